//===- Mesh.cpp - the ranks of a program ----------------------------------===//

#include "Mesh.h"

#include "Core/Error.h"

using namespace dtc::rt;

int Mesh::size() const {
  int size = 1;
  for (const Axis &axis : axes)
    size *= axis.size;
  return size;
}

int Mesh::find(std::string_view name) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == name)
      return int(i);
  return -1;
}

int Mesh::sizeOf(std::string_view name) const {
  int axis = find(name);
  return axis < 0 ? 1 : axes[axis].size;
}

int Mesh::sizeOf(const std::vector<int> &among) const {
  int size = 1;
  for (int axis : among)
    size *= axes[axis].size;
  return size;
}

std::vector<int> Mesh::coordinates(int rank) const {
  std::vector<int> result(axes.size());
  for (size_t i = axes.size(); i-- > 0; rank /= axes[i].size)
    result[i] = rank % axes[i].size;
  return result;
}

int Mesh::rank(const std::vector<int> &coordinates) const {
  int rank = 0;
  for (size_t i = 0; i < axes.size(); ++i)
    rank = rank * axes[i].size + coordinates[i];
  return rank;
}

int Mesh::coordinate(int rank, std::string_view name) const {
  int axis = find(name);
  return axis < 0 ? 0 : coordinates(rank)[axis];
}

std::vector<int> Mesh::members(const std::vector<int> &among, int own) const {
  std::vector<int> where = coordinates(own);
  std::vector<int> ranks;
  for (int place = 0; place < sizeOf(among); ++place) {
    int rest = place;
    for (auto axis = among.rbegin(); axis != among.rend(); ++axis) {
      where[*axis] = rest % axes[*axis].size;
      rest /= axes[*axis].size;
    }
    ranks.push_back(rank(where));
  }
  return ranks;
}

int Mesh::place(const std::vector<int> &among, int rank) const {
  std::vector<int> where = coordinates(rank);
  int place = 0;
  for (int axis : among)
    place = place * axes[axis].size + where[axis];
  return place;
}

std::string Mesh::describe() const {
  std::string text;
  for (size_t i = 0; i < axes.size(); ++i)
    text += format("%s%s %s", text.empty() ? "" : " x ", axes[i].name.c_str(),
                   int(i) == openAxis ? "auto"
                                      : std::to_string(axes[i].size).c_str());
  return text.empty() ? "one rank" : text;
}

std::string Mesh::describeRank(int rank) const {
  std::string text;
  std::vector<int> where = coordinates(rank);
  for (size_t i = 0; i < axes.size(); ++i)
    text += format("%s%s %d", text.empty() ? "" : ", ", axes[i].name.c_str(),
                   where[i]);
  return format("rank %d", rank) + (text.empty() ? "" : " (" + text + ")");
}
