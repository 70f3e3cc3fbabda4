"""The options of the page « Estimateur »: one list that gives the form, the script's rules and the table of names.

An option has the name of the field of `sitegen.records.case.Case` that it sets, but for `numbers`, which sets the dtype
and the mixed precision at once, as people choose them. Its names in other libraries were read in their sources:
transformers 5.24 (`TrainingArguments`, `from_pretrained`), trl 1.16 (`SFTConfig`), peft 0.21 (`LoraConfig`) and
`BitsAndBytesConfig` of transformers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from sitegen.render.labels import OPTIMIZER_NAMES

Kind = Literal["radio", "select", "count", "switch", "targets"]
Place = Literal["trainer", "trl", "peft", "quantisation", "model", "shell"]

PLACES: Final[dict[Place, str]] = {
    "trainer": "Trainer, TRL",
    "trl": "TRL",
    "peft": "PEFT",
    "quantisation": "BitsAndBytesConfig",
    "model": "from_pretrained",
    "shell": "environnement",
}
"""Where a name is written: `SFTConfig` of TRL has every argument of transformers' `TrainingArguments`."""


@dataclass(frozen=True, slots=True)
class Name:
    """How another library calls an option: `place` is where it is written, `name` the keyword."""

    place: Place
    name: str

    @property
    def where(self) -> str:
        """The place, as the form and the table write it."""
        return PLACES[self.place]


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of an option; `code` is that value as the library of the option's first name writes it."""

    value: str
    label: str
    code: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """One option as the reader sets it.

    `when` says for which values of other options it counts (all of them must agree); `least` and `most` bound a count.
    """

    name: str
    label: str
    kind: Kind
    default: str
    choices: tuple[Choice, ...] = ()
    names: tuple[Name, ...] = ()
    when: tuple[tuple[str, tuple[str, ...]], ...] = ()
    hint: str = ""
    unit: str = ""
    least: int = 1
    most: int = 1_048_576


_TRAINING: Final = (("mode", ("training",)),)
_ADAPTER: Final = (("method", ("lora", "qlora")),)
_MOMENTS: Final = (*_TRAINING, ("optimizer", ("adamw", "sgd", "sgd-momentum")))

METHOD: Final = (
    Option(
        "mode",
        "Usage",
        "radio",
        "training",
        (
            Choice("training", "Entraînement"),
            Choice("inference", "Inférence"),
            Choice("generation", "Génération"),
        ),
    ),
    Option(
        "method",
        "Méthode",
        "radio",
        "lora",
        (
            Choice("full", "Complète", hint="tous les poids"),
            Choice("lora", "LoRA", hint="un adaptateur"),
            Choice("qlora", "QLoRA", hint="sur 4 bits (NF4)"),
        ),
        (Name("peft", "LoraConfig"), Name("quantisation", "load_in_4bit")),
    ),
    Option("lora_rank", "Rang", "count", "16", (), (Name("peft", "r"),), _ADAPTER, most=4096),
    Option(
        "lora_targets", "Modules ciblés", "targets", "q_proj,v_proj", (), (Name("peft", "target_modules"),), _ADAPTER
    ),
    Option(
        "double_quant",
        "Double quantification",
        "switch",
        "true",
        (),
        (Name("quantisation", "bnb_4bit_use_double_quant"),),
        (("method", ("qlora",)),),
        "Quantifie aussi les échelles.",
    ),
)
TRAINING: Final = (
    Option(
        "numbers",
        "Format des nombres",
        "select",
        "bfloat16",
        (
            Choice("bfloat16", "bfloat16", "torch.bfloat16"),
            Choice("float16", "float16", "torch.float16"),
            Choice("float32", "float32", "torch.float32"),
            Choice("mixed", "précision mixte (bf16)", "torch.float32"),
        ),
        (Name("model", "dtype"), Name("trainer", "bf16")),
    ),
    Option(
        "optimizer",
        "Optimiseur",
        "select",
        "adamw",
        tuple(
            Choice(key, OPTIMIZER_NAMES[key], code)
            for key, code in (
                ("adamw", '"adamw_torch"'),
                ("adamw-8bit", '"adamw_bnb_8bit"'),
                ("adafactor", '"adafactor"'),
                ("sgd-momentum", '"sgd", optim_args="momentum=0.9"'),
                ("sgd", '"sgd"'),
            )
        ),
        (Name("trainer", "optim"),),
        _TRAINING,
    ),
    Option(
        "batch_size",
        "Taille de lot",
        "count",
        "4",
        (),
        (Name("trainer", "per_device_train_batch_size"),),
        unit="exemples",
        most=65_536,
    ),
    Option("sequence_length", "Longueur de séquence", "count", "2048", (), (Name("trl", "max_length"),), unit="jetons"),
    Option(
        "gradient_accumulation",
        "Accumulation",
        "count",
        "1",
        (),
        (Name("trainer", "gradient_accumulation_steps"),),
        _TRAINING,
        unit="micro-lots",
        most=65_536,
    ),
    Option(
        "gradient_checkpointing",
        "Points de contrôle de gradient",
        "switch",
        "false",
        (),
        (Name("trainer", "gradient_checkpointing"),),
        _TRAINING,
        "Recalcule les activations.",
    ),
)
EXECUTION: Final = (
    Option(
        "new_tokens", "Jetons à produire", "count", "256", (), (), (("mode", ("generation",)),), unit="jetons", least=2
    ),
    Option(
        "logits",
        "Logits calculés",
        "select",
        "all",
        (Choice("all", "toutes les positions"), Choice("last", "la dernière")),
        (),
        (("mode", ("inference",)),),
    ),
    Option(
        "attention",
        "Attention",
        "select",
        "sdpa",
        (
            Choice("sdpa", "sdpa", '"sdpa"'),
            Choice("eager", "eager (écrit les scores)", '"eager"'),
        ),
        (Name("model", "attn_implementation"),),
    ),
    Option(
        "loss",
        "Perte",
        "select",
        "full",
        (
            Choice("full", "tous les logits"),
            Choice("chunked", "par morceaux"),
        ),
        (),
        _TRAINING,
        "Trainer et TRL : tous, hors noyaux fusionnés.",
    ),
    Option(
        "zero_grad",
        "Gradients entre étapes",
        "select",
        "free",
        (Choice("free", "libérés (usuel)"), Choice("keep", "gardés, à zéro")),
        (),
        _TRAINING,
        "Trainer et TRL les libèrent toujours.",
    ),
    Option("padding", "Remplissage", "switch", "false", (), (), (), "Exemples de longueurs inégales dans un lot."),
    Option(
        "foreach",
        "Mise à jour multi-tenseurs",
        "switch",
        "true",
        (),
        (),
        _MOMENTS,
        "Usuelle sur un GPU.",
    ),
    Option(
        "allocator",
        "Allocateur",
        "select",
        "fixed",
        (
            Choice("fixed", "glibc, seuil fixe", "131072"),
            Choice("default", "glibc, par défaut"),
            Choice("jemalloc", "jemalloc"),
            Choice("mimalloc", "mimalloc"),
            Choice("tcmalloc", "tcmalloc"),
        ),
        (Name("shell", "MALLOC_MMAP_THRESHOLD_"),),
        (("device", ("cpu",)),),
    ),
)
MACHINE: Final = (
    Option(
        "device",
        "Calcul sur",
        "radio",
        "cuda",
        (Choice("cuda", "GPU (CUDA)"), Choice("cpu", "Processeur")),
    ),
)


@dataclass(frozen=True, slots=True)
class Group:
    """One fieldset: `key` is its place in the template."""

    key: str
    legend: str
    options: tuple[Option, ...]


GROUPS: Final = (
    Group("method", "Méthode", METHOD),
    Group("training", "Réglages", TRAINING),
    Group("execution", "Exécution", EXECUTION),
    Group("machine", "Machine", MACHINE),
)
OPTIONS: Final = tuple(option for group in GROUPS for option in group.options)
