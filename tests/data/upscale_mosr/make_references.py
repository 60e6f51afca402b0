"""Makes the MoSR references: small nets with random weights, an input each, and what PyTorch in float32 makes of it.

Written from the published definition of the architecture (umzi2/MoSR, the state frozen in August 2024; neosr and spandrel have
the same), whose tensor names the files bear. Weights are half-precision values. Needs torch.   python make_references.py
"""
import json, os, struct
import torch
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = {
    "shuffle-x4": dict(channels=3, dim=8, blocks=2, hidden=12, mixed=8, kernel=7, upsampler="ps", scale=4, size=(9, 7)),
    "ensemble-x2": dict(channels=3, dim=10, blocks=3, hidden=15, mixed=5, kernel=5, upsampler="gps", scale=2, size=(6, 11)),
    "gray-x1": dict(channels=1, dim=6, blocks=1, hidden=6, mixed=6, kernel=3, upsampler="ps", scale=1, size=(1, 5)),
}


def random_weights(c, generator):
    """Tensors by name, in the order of the net."""
    tensors = {}

    def half(value):
        return value.half().float()

    def conv(name, fan_in, out, kernel, groups=1):
        shape = (out, fan_in // groups, kernel, kernel)
        spread = (fan_in // groups * kernel * kernel) ** -0.5
        tensors[name + ".weight"] = half(torch.randn(shape, generator=generator) * spread)
        tensors[name + ".bias"] = half(torch.randn(out, generator=generator) * 0.1)

    dim, blocks = c["dim"], c["blocks"]
    conv("gblocks.0", c["channels"], dim, 3)
    for i in range(1, blocks + 1):
        tensors[f"gblocks.{i}.norm.weight"] = half(1 + torch.randn(dim, generator=generator) * 0.2)
        tensors[f"gblocks.{i}.norm.bias"] = half(torch.randn(dim, generator=generator) * 0.2)
        conv(f"gblocks.{i}.fc1", dim, 2 * c["hidden"], 3)
        conv(f"gblocks.{i}.conv", c["mixed"], c["mixed"], c["kernel"], groups=c["mixed"])
        conv(f"gblocks.{i}.fc2", c["hidden"], dim, 3)
    conv(f"gblocks.{blocks + 1}", dim, 2 * dim, 3)
    conv(f"gblocks.{blocks + 3}", 2 * dim, dim, 3)
    conv(f"gblocks.{blocks + 5}", dim, dim, 1)
    conv("shortcut.block.0", c["channels"], dim, 3)
    conv("shortcut.block.2", dim, dim, 3)
    conv("shortcut.conv11", c["channels"], dim, 1)
    pixels = c["channels"] * c["scale"] ** 2
    if c["upsampler"] == "ps":
        conv("upsampler.0", dim, pixels, 3)
    else:
        conv("upsampler.in_to_k", dim, 8 * pixels, 3)
    return tensors


def mosr(w, c, x):
    def conv(name, t, groups=1):
        weight = w[name + ".weight"]
        return F.conv2d(t, weight, w[name + ".bias"], padding=weight.shape[-1] // 2, groups=groups)

    def block(name, t):
        normal = F.layer_norm(t.permute(0, 2, 3, 1), (c["dim"],), w[name + ".norm.weight"], w[name + ".norm.bias"], eps=1e-6)
        both = conv(name + ".fc1", normal.permute(0, 3, 1, 2))
        gate, rest = both[:, : c["hidden"]], both[:, c["hidden"] :]
        kept, mixed = rest[:, : c["hidden"] - c["mixed"]], rest[:, c["hidden"] - c["mixed"] :]
        opened = torch.cat([kept, conv(name + ".conv", mixed, groups=c["mixed"])], 1)
        return F.mish(conv(name + ".fc2", F.mish(gate) * opened)) + (t - 0.5)

    h = conv("gblocks.0", x)
    for i in range(1, c["blocks"] + 1):
        h = block(f"gblocks.{i}", h)
    n = c["blocks"]
    h = conv(f"gblocks.{n + 5}", F.mish(conv(f"gblocks.{n + 3}", F.mish(conv(f"gblocks.{n + 1}", h)))))
    shortcut = F.mish(conv("shortcut.block.2", F.mish(conv("shortcut.block.0", x)))) + conv("shortcut.conv11", x)
    h = h + (shortcut - 0.5)
    if c["upsampler"] == "ps":
        h = conv("upsampler.0", h)
    else:
        h = torch.stack(conv("upsampler.in_to_k", h).chunk(8, 1)).mean(0)
    return F.pixel_shuffle(h, c["scale"])


def save_safetensors(path, tensors, dtype):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = (tensor.half() if dtype == "F16" else tensor).contiguous().numpy().tobytes()
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def main():
    manifest = []
    for seed, (name, case) in enumerate(CASES.items()):
        generator = torch.Generator().manual_seed(seed)
        weights = random_weights(case, generator)
        x = torch.rand((1, case["channels"], *case["size"]), generator=generator)
        with torch.no_grad():
            y = mosr(weights, case, x)
        save_safetensors(os.path.join(HERE, name + ".safetensors"), weights, "F16")
        save_safetensors(os.path.join(HERE, name + ".io.safetensors"), {"x": x, "y": y}, "F32")
        manifest.append({"model": name + ".safetensors", "io": name + ".io.safetensors", "config": case})
    with open(os.path.join(HERE, "manifest.json"), "w") as file:
        json.dump(manifest, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
