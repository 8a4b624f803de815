//===- Attributes.td - mesh, layout, enums -----------------*- tablegen -*-===//

#ifndef DTC_DIALECT_ATTRIBUTES_TD
#define DTC_DIALECT_ATTRIBUTES_TD

include "dtc/Dialect/Dialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

class DTC_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<DTC_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def DTC_MeshAttr : DTC_Attr<"Mesh", "mesh"> {
  let summary = "named axes of ranks, and of time";
  let description = [{
    Axes with their sizes, outermost first. All axes but `mb` number ranks:
    the rank is the row-major index of its coordinates. `mb` (micro-batches)
    is an axis in time: every rank visits all its coordinates in a step.

    Constraints: (C1) at least one axis; (C2) names unique; (C3) sizes >= 1.

    Example: `#dtc.mesh<pp=2, dp=4, mb=8>`
  }];
  let parameters = (ins ArrayRefParameter<"MeshAxis">:$axes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The name of the time axis.
    static constexpr llvm::StringLiteral timeAxis = "mb";
    /// Size of the axis, 1 if the mesh does not have it.
    int64_t getSize(llvm::StringRef axis) const;
    /// Position of the axis, or -1.
    int64_t getIndex(llvm::StringRef axis) const;
    /// Whether the axis divides the batch: `mb`, and those of data
    /// parallelism.
    static bool isOfBatch(llvm::StringRef axis);
    /// Number of ranks: the product of all axes but `mb`.
    int64_t getNumRanks() const;
  }];
}

def DTC_LayoutAttr : DTC_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "distribution of a tensor over a mesh";
  let description = [{
    For each mesh axis a tensor is replicated (the axis is absent),
    `split(dim)`, or `partial(sum|max)`: its value is the sum or maximum over
    the axis. Axes that split one dimension are listed major to minor.

    `split(dim in N)` splits each of N equal pieces of a dimension: of a
    [sequence x batch] dimension, in which the batch is minor, `split(0 in
    sequence)` splits the batch. Only axes of the batch do so, because what
    they split is not gathered.

    On an axis that is `each`, every position has a value of its own, of the
    tensor's whole shape. A scalar of the only micro-batch is `mb: each`. The
    parameters of workers that train apart are `dp: each`. Ops compute with such
    values as if there were one position. Only dtc.terms makes one tensor of
    them.

    The canonical order, which the parser establishes, is: splits by
    dimension, those by axes of size 1 first; then partials by mesh order.

    Constraints: (C1) an axis is used at most once and exists in the mesh;
    (C2) split dimensions exist; (C3) the product of the axes that split a
    dimension, and of its pieces, divides it.

    Example: `#dtc.layout<#mesh, mb: split(0), dp: split(0), tp: split(2)>`
  }];
  let parameters = (ins "MeshAttr":$mesh,
                        ArrayRefParameter<"AxisLayout">:$entries);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The layout with its entries in canonical order.
    static LayoutAttr getCanonical(MeshAttr mesh,
                                   llvm::SmallVector<AxisLayout> entries);
    /// Replicated on every axis.
    static LayoutAttr getReplicated(MeshAttr mesh);
    /// The entry of an axis; none when replicated.
    std::optional<AxisLayout> getEntry(llvm::StringRef axis) const;
    bool isSplit(llvm::StringRef axis) const;
    bool isPartial(llvm::StringRef axis) const;
    bool isReplicated() const { return getEntries().empty(); }
    bool hasPartial() const;
    /// The layout of one position on these axes: without their entries.
    LayoutAttr without(llvm::ArrayRef<llvm::StringRef> axes) const;
    /// The same layout without its partial entries.
    LayoutAttr withoutPartials() const;
    /// The entries that split a dimension, major to minor.
    llvm::SmallVector<AxisLayout> getSplitsOfDim(int64_t dim) const;
    /// The same, as axes.
    llvm::SmallVector<mlir::StringAttr> getAxesOfDim(int64_t dim) const;
    /// The part of `shape` that one rank holds (at one micro-batch, if split
    /// on mb).
    llvm::SmallVector<int64_t> getLocalShape(llvm::ArrayRef<int64_t> shape) const;
  }];
}

def DTC_PhaseAttr : DTC_Attr<"Phase", "phase"> {
  let summary = "phase of a step that a stage function implements";
  let description = [{
    The phase, its level or chunk if it is not 0, and `first` or `last` if the
    function is for only the first or last of its runs in a step: see
    dtc/Dialect/Phase.h. It is the attribute `dtc.phase` of the function.

    Example: `#dtc.phase<forward>`, `#dtc.phase<weight 1 last>`
  }];
  let parameters = (ins "::dtc::Phase":$phase);
  let hasCustomAssemblyFormat = 1;
}

def DTC_Reduction : I32EnumAttr<"Reduction", "reduction of a collective", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>]> {
  let cppNamespace = "::dtc";
  let genSpecializedAttr = 0;
}
def DTC_ReductionAttr : EnumAttr<DTC_Dialect, DTC_Reduction, "reduction">;

def DTC_Comparison : I32EnumAttr<"Comparison", "comparison", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>,
    I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
    I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::dtc";
  let genSpecializedAttr = 0;
}
def DTC_ComparisonAttr : EnumAttr<DTC_Dialect, DTC_Comparison, "comparison">;

/// Elementwise ops that a matmul applies to its result before storing it.
def DTC_Epilogue : I32EnumAttr<"Epilogue", "epilogue of a matmul", [
    I32EnumAttrCase<"bias", 0>, I32EnumAttrCase<"relu", 1>,
    I32EnumAttrCase<"gelu", 2>, I32EnumAttrCase<"gelu_grad", 3>,
    I32EnumAttrCase<"add", 4>]> {
  let cppNamespace = "::dtc";
  let genSpecializedAttr = 0;
}
def DTC_EpilogueAttr : EnumAttr<DTC_Dialect, DTC_Epilogue, "epilogue">;

#endif // DTC_DIALECT_ATTRIBUTES_TD
