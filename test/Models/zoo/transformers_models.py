"""Hugging Face's transformers from configurations, narrow and shallow, with their
default dropout. Heads are 16 wide, so that the scale of attention is a power of
two."""

import transformers as hf
from torch import nn

from model import Model, ids, images, ones

VOCABULARY, LENGTH = 100, 16


def _tokens(module, has_mask=False, **options):
    inputs = [ids(VOCABULARY, LENGTH)]
    if has_mask:
        inputs.append(ones(LENGTH))
    return Model(module, inputs, has_heads=True, **options)


def _encoder(**options):
    return dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2,
                num_attention_heads=2, intermediate_size=64,
                max_position_embeddings=32, **options)


def bert_mlm():
    return _tokens(hf.BertForMaskedLM(hf.BertConfig(**_encoder())))


def bert_classifier():
    return _tokens(hf.BertForSequenceClassification(
        hf.BertConfig(**_encoder(num_labels=3))), has_mask=True)


def bert_eager():
    return _tokens(hf.BertForMaskedLM(hf.BertConfig(
        **_encoder(attn_implementation="eager"))), has_mask=True)


# Token 1 is padding, which TorchScript's files do not say.
_PADDING = ["--padding-idx", "*.word_embeddings.weight=1",
            "--padding-idx", "*.position_embeddings.weight=1"]


def roberta_mlm():
    return _tokens(hf.RobertaForMaskedLM(hf.RobertaConfig(**_encoder())),
                   options=_PADDING)


def distilbert_classifier():
    return _tokens(hf.DistilBertForSequenceClassification(hf.DistilBertConfig(
        vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=2, hidden_dim=64,
        max_position_embeddings=32, num_labels=3)), has_mask=True)


def electra_classifier():
    return _tokens(hf.ElectraForSequenceClassification(hf.ElectraConfig(
        **_encoder(embedding_size=16, num_labels=3))))


def albert_mlm():
    return _tokens(hf.AlbertForMaskedLM(hf.AlbertConfig(
        **_encoder(embedding_size=16))))


def deberta_v2_classifier():
    return _tokens(hf.DebertaV2ForSequenceClassification(hf.DebertaV2Config(
        **_encoder(relative_attention=True, position_buckets=8,
                   pos_att_type=["p2c", "c2p"], num_labels=3))), has_mask=True)


def mpnet_mlm():
    return _tokens(hf.MPNetForMaskedLM(hf.MPNetConfig(**_encoder())),
                   options=_PADDING)


def modernbert_mlm():
    return _tokens(hf.ModernBertForMaskedLM(hf.ModernBertConfig(
        **_encoder(pad_token_id=0, bos_token_id=1, eos_token_id=2,
                   cls_token_id=1, sep_token_id=2))), has_mask=True)


def gpt2():
    return _tokens(hf.GPT2LMHeadModel(hf.GPT2Config(
        vocab_size=VOCABULARY, n_positions=32, n_embd=32, n_layer=2, n_head=2,
        bos_token_id=0, eos_token_id=0, use_cache=False)))


def gpt2_eager():
    return _tokens(hf.GPT2LMHeadModel(hf.GPT2Config(
        vocab_size=VOCABULARY, n_positions=32, n_embd=32, n_layer=2, n_head=2,
        bos_token_id=0, eos_token_id=0, use_cache=False,
        attn_implementation="eager")))


def gpt_neo():
    return _tokens(hf.GPTNeoForCausalLM(hf.GPTNeoConfig(
        vocab_size=VOCABULARY, hidden_size=32, num_layers=2, num_heads=2,
        attention_types=[[["global", "local"], 1]], window_size=8,
        max_position_embeddings=32, bos_token_id=0, eos_token_id=0,
        use_cache=False)))


def _decoder(**options):
    return dict(_encoder(), bos_token_id=0, eos_token_id=0, pad_token_id=None,
                use_cache=False, **options)


def gpt_neox():
    return _tokens(hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(**_decoder())))


def opt():
    return _tokens(hf.OPTForCausalLM(hf.OPTConfig(
        vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2,
        num_attention_heads=2, ffn_dim=64, max_position_embeddings=32,
        word_embed_proj_dim=32, use_cache=False)), has_mask=True)


def phi():
    return _tokens(hf.PhiForCausalLM(hf.PhiConfig(**_decoder())))


def llama():
    return _tokens(hf.LlamaForCausalLM(hf.LlamaConfig(**_decoder(
        num_key_value_heads=2))))


def llama_grouped():
    options = _decoder(num_key_value_heads=2)
    options.update(hidden_size=64, num_attention_heads=4)
    return _tokens(hf.LlamaForCausalLM(hf.LlamaConfig(**options)))


def mistral():
    options = _decoder(num_key_value_heads=2, sliding_window=8)
    options.update(hidden_size=64, num_attention_heads=4)
    return _tokens(hf.MistralForCausalLM(hf.MistralConfig(**options)))


def qwen2():
    options = _decoder(num_key_value_heads=2)
    options.update(hidden_size=64, num_attention_heads=4)
    return _tokens(hf.Qwen2ForCausalLM(hf.Qwen2Config(**options)))


def qwen3():
    options = _decoder(num_key_value_heads=2, head_dim=16)
    options.update(hidden_size=64, num_attention_heads=4)
    return _tokens(hf.Qwen3ForCausalLM(hf.Qwen3Config(**options)),
                   has_tables=True)


def gemma():
    options = _decoder(num_key_value_heads=1, head_dim=16)
    options.update(hidden_size=64, num_attention_heads=4)
    return _tokens(hf.GemmaForCausalLM(hf.GemmaConfig(**options)))


def gemma2():
    options = _decoder(num_key_value_heads=2, head_dim=16,
                       query_pre_attn_scalar=16, sliding_window=8)
    options.update(hidden_size=64, num_attention_heads=4)
    return _tokens(hf.Gemma2ForCausalLM(hf.Gemma2Config(**options)))


def bloom():
    return _tokens(hf.BloomForCausalLM(hf.BloomConfig(
        vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=2,
        bos_token_id=0, eos_token_id=0, use_cache=False)))


def t5():
    module = hf.T5ForConditionalGeneration(hf.T5Config(
        vocab_size=VOCABULARY, d_model=32, d_kv=16, d_ff=64, num_layers=2,
        num_heads=2, decoder_start_token_id=0, use_cache=False))
    return Model(_EncoderDecoder(module),
                 [ids(VOCABULARY, LENGTH), ids(VOCABULARY, 8)], has_heads=True)


def t5_encoder():
    return _tokens(hf.T5EncoderModel(hf.T5Config(
        vocab_size=VOCABULARY, d_model=32, d_kv=16, d_ff=64, num_layers=2,
        num_heads=2)), loss="mse")


def bart():
    module = hf.BartForConditionalGeneration(hf.BartConfig(
        vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=32,
        use_cache=False))
    return Model(_EncoderDecoder(module),
                 [ids(VOCABULARY, LENGTH), ids(VOCABULARY, 8)], has_heads=True)


class _EncoderDecoder(nn.Module):
    """Two sequences of tokens as the only arguments."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, decoder_input_ids):
        return self.model(input_ids=input_ids,
                          decoder_input_ids=decoder_input_ids).logits


def vit():
    return Model(hf.ViTForImageClassification(hf.ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, image_size=32, patch_size=8, num_labels=10,
        hidden_dropout_prob=0.1)), [images(32)], has_heads=True)


def deit():
    return Model(hf.DeiTForImageClassification(hf.DeiTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, image_size=32, patch_size=8, num_labels=10)),
        [images(32)], has_heads=True)


def clip_vision():
    return Model(hf.CLIPVisionModelWithProjection(hf.CLIPVisionConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, image_size=32, patch_size=8, projection_dim=16)),
        [images(32)], loss="mse", has_heads=True)


def resnet():
    return Model(hf.ResNetForImageClassification(hf.ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1],
        layer_type="basic", num_labels=10)), [images(32)])


def segformer():
    return Model(hf.SegformerForImageClassification(hf.SegformerConfig(
        num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1],
        hidden_sizes=[16, 32], patch_sizes=[7, 3], strides=[4, 2],
        num_attention_heads=[1, 2], mlp_ratios=[2, 2], num_labels=10)),
        [images(32)])
