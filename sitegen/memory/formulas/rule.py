"""The mixed-precision rule: ``M = N × B`` and ``V = M + A``.

N is in billions of parameters, B in bytes a parameter, A (activations) and the results in GB (10^9 bytes). The
calculator of the site gets these presets as data and runs the two formulas as they are printed; the worked examples
come from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from sitegen.errors import UsageError
from sitegen.memory.formulas.arithmetic import Value
from sitegen.memory.formulas.formula import computed

Component = Literal["weights", "gradients", "master_copy", "first_moment", "second_moment", "momentum"]

DEFAULT_PARAMETERS_BILLIONS: Final = 7.0
DEFAULT_ACTIVATIONS_GB: Final = 0.0
EXAMPLE_ACTIVATIONS_GB: Final = 20.0


@dataclass(frozen=True, slots=True)
class Share:
    """What one component takes of each parameter, in bytes."""

    component: Component
    bytes_per_parameter: float


@dataclass(frozen=True, slots=True)
class Preset:
    """A way of training, the bytes it keeps for each parameter, and where the count comes from."""

    key: str
    shares: tuple[Share, ...]
    source: str

    @property
    def bytes_per_parameter(self) -> float:
        """B: the sum of the shares."""
        return sum(share.bytes_per_parameter for share in self.shares)


@dataclass(frozen=True, slots=True)
class TrainingBill:
    """The result of the rule, in GB: `model` is M, `activations` A and `total` V."""

    model: float
    activations: float
    total: float


_ZERO: Final = "Rajbhandari et al., ZeRO, 2020, section 3.1: arXiv 1910.02054"
_8BIT: Final = "Dettmers et al., 8-bit Optimizers via Block-wise Quantization, 2022: arXiv 2110.02861"
_COUNT: Final = "counted from the types of the tensors that torch.optim keeps"

MIXED_ADAM: Final = Preset(
    "mixed-adam",
    (
        Share("weights", 2),
        Share("gradients", 2),
        Share("master_copy", 4),
        Share("first_moment", 4),
        Share("second_moment", 4),
    ),
    _ZERO,
)
ADAM_8BIT: Final = Preset(
    "adam-8bit",
    (
        Share("weights", 2),
        Share("gradients", 4),
        Share("master_copy", 4),
        Share("first_moment", 1),
        Share("second_moment", 1),
    ),
    _8BIT,
)
ADAM_8BIT_16BIT_GRADIENTS: Final = Preset(
    "adam-8bit-16bit-gradients",
    (
        Share("weights", 2),
        Share("gradients", 2),
        Share("master_copy", 4),
        Share("first_moment", 1),
        Share("second_moment", 1),
    ),
    _8BIT,
)
SGD_MOMENTUM: Final = Preset("sgd-momentum", (Share("weights", 2), Share("gradients", 2), Share("momentum", 4)), _COUNT)
PURE_16BIT_ADAM: Final = Preset(
    "pure-16bit-adam",
    (Share("weights", 2), Share("gradients", 2), Share("first_moment", 2), Share("second_moment", 2)),
    _COUNT,
)

PRESETS: Final = (MIXED_ADAM, ADAM_8BIT, ADAM_8BIT_16BIT_GRADIENTS, SGD_MOMENTUM, PURE_16BIT_ADAM)


@computed("M", "modèle et états", "Go", _ZERO)
def model_gb(billions: Value, bytes_per_parameter: Value) -> Value:
    """What a model and its states take: a billion parameters of one byte are one GB."""
    return billions * bytes_per_parameter


@computed("V", "mémoire d’entraînement", "Go", _ZERO)
def total_gb(model_gb: Value, activations_gb: Value) -> Value:
    """What training takes, the gradients and the state living beside the activations."""
    return model_gb + activations_gb


def training_vram(parameters_billions: float, bytes_per_parameter: float, activations_gb: float) -> TrainingBill:
    """What training takes: M for the model and its states, V with the activations.

    Args:
        parameters_billions: N, above 0.
        bytes_per_parameter: B, above 0.
        activations_gb: A in GB, 0 or more.

    Raises:
        UsageError: a value is out of its range.
    """
    if parameters_billions <= 0 or bytes_per_parameter <= 0 or activations_gb < 0:
        raise UsageError("N and B must be above 0, and A must be 0 or more.")
    model = model_gb(parameters_billions, bytes_per_parameter)
    return TrainingBill(model, activations_gb, total_gb(model, activations_gb))
