"""Mesurer la mémoire que demande un modèle de langage, en inférence ou à l'entraînement, sur le processeur.

Sous Linux ou macOS ; sous Windows, dans WSL (le sous-système Windows pour Linux). Il faut Python 3.11 ou plus :

    python -m pip install torch transformers peft
    python mesurer_soi_meme.py --mode entrainement --lot 8

Sur une machine de 8 Go, commencer par un seul exemple, court, sans toucher à la mémoire d'échange :

    python mesurer_soi_meme.py --mode entrainement --lot 1 --longueur 64

Le protocole, celui des mesures publiées :
1. tout importer, puis lire la mémoire de départ : elle ne doit rien au modèle, on la retranche ;
2. charger le modèle ; ce pic-là est compté à part ;
3. faire deux étapes réelles et lire le pic de chacune : la première n'a pas encore l'état de l'optimiseur ;
4. doubler le lot et recommencer : ce qui grandit, ce sont les activations.

Sont affichés le pic brut (ce que le système compte) et le pic net (sans la mémoire de départ).
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path

MODELE = "HuggingFaceTB/SmolLM2-135M-Instruct"
FICHIERS = ["config.json", "generation_config.json", "*.safetensors", "*.safetensors.index.json"]
TELECHARGER = "import sys, huggingface_hub as h; print(h.snapshot_download(sys.argv[1], allow_patterns=sys.argv[2:]))"
VARIABLE, SEUIL = "MALLOC_MMAP_THRESHOLD_", "131072"  # le seuil initial de la glibc : 128 Kio


def lire_options() -> argparse.Namespace:
    """Les options de la ligne de commande."""
    forme = argparse.RawDescriptionHelpFormatter
    lecteur = argparse.ArgumentParser(description=__doc__, formatter_class=forme, add_help=False)
    ajouter = lecteur.add_argument_group("Options").add_argument
    ajouter("-h", "--help", "--aide", action="help", help="afficher cette aide")
    ajouter("--modele", default=MODELE, metavar="NOM", help="nom sur Hugging Face, ou dossier (défaut : %(default)s)")
    ajouter("--mode", choices=("inference", "entrainement"), default="entrainement", help="défaut : %(default)s")
    ajouter("--lot", type=int, default=8, metavar="N", help="taille de lot (défaut : %(default)s)")
    ajouter("--longueur", type=int, default=256, metavar="N", help="jetons par exemple (défaut : %(default)s)")
    ajouter("--points-de-controle", action="store_true", help="recalculer les activations (gradient checkpointing)")
    ajouter("--type", choices=("float32", "bfloat16"), default="float32", help="défaut : %(default)s")
    ajouter("--lora", action="store_true", help="n'entraîner qu'un adaptateur LoRA : rang 8, sur q_proj et v_proj")
    ajouter("--etapes", type=int, default=2, metavar="N", help="étapes d'entraînement (défaut : %(default)s)")
    ajouter("--seuil-fixe", action="store_true", help="fixer le seuil de l'allocateur de la glibc (Linux)")
    ajouter("--json", action="store_true", help="écrire le résultat en JSON, en octets et en nanosecondes")
    options = lecteur.parse_args()
    if min(options.lot, options.longueur - 1, options.etapes) < 1:
        lecteur.error("il faut au moins 1 exemple, 2 jetons (un, et le suivant à prédire) et 1 étape")
    if options.mode == "inference" and (options.lora or options.points_de_controle):
        lecteur.error("--lora et --points-de-controle ne valent que pour --mode entrainement")
    return options


def fixer_le_seuil() -> None:
    """Relancer ce script, seuil fixé : sans cela la glibc le relève peu à peu, et son tas fragmenté grossit le pic."""
    if not sys.platform.startswith("linux"):
        raise SystemExit("--seuil-fixe règle l'allocateur de la glibc, propre à Linux : relancez sans cette option.")
    if os.environ.get(VARIABLE) != SEUIL:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, VARIABLE: SEUIL})  # noqa: S606 - soi-même


def dossier_de(modele: str) -> str:
    """Le dossier du modèle, téléchargé au besoin par un autre processus : celui-ci n'en garde aucune trace."""
    if Path(modele).is_dir():
        return modele
    commande = [sys.executable, "-c", TELECHARGER, modele, *FICHIERS]
    fait = subprocess.run(commande, stdout=subprocess.PIPE, text=True, check=False)
    if fait.returncode != 0:
        raise SystemExit(f"{modele} n'a pas pu être téléchargé : donnez un autre nom, ou un dossier, à --modele.")
    return fait.stdout.strip().splitlines()[-1]


def remettre_le_pic_a_zero() -> bool:
    """Ramener le pic à la mémoire occupée maintenant ; seul Linux le permet (proc(5), clear_refs)."""
    with contextlib.suppress(OSError):
        return Path("/proc/self/clear_refs").write_text("5", encoding="ascii") > 0
    return False


def pic_octets() -> int:
    """Le pic de ce processus, en octets : VmHWM, car sous Linux ru_maxrss s'hérite du processus parent."""
    with contextlib.suppress(OSError):
        lignes = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(ligne.split()[1]) * 1024 for ligne in lignes if ligne.startswith("VmHWM:"))
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # des octets, sous macOS


def charger(options: argparse.Namespace, dossier: str):  # noqa: ANN201 - un modèle de transformers, et son optimiseur
    """Le modèle prêt à servir, et l'optimiseur s'il faut entraîner."""
    import torch
    from transformers import AutoModelForCausalLM

    modele = AutoModelForCausalLM.from_pretrained(dossier, dtype=getattr(torch, options.type))
    if options.mode == "inference":
        return modele.eval(), None
    if options.points_de_controle:
        modele.gradient_checkpointing_enable({"use_reentrant": False})
    if options.lora:
        from peft import LoraConfig, get_peft_model

        modele = get_peft_model(modele, LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"]))
    entraines = [poids for poids in modele.parameters() if poids.requires_grad]
    return modele.train(), torch.optim.AdamW(entraines, lr=1e-4)


def une_etape(modele, optimiseur, jetons) -> None:  # noqa: ANN001 - voir charger() et mesurer()
    """Une passe avant en inférence ; à l'entraînement : passe avant, passe arrière, mise à jour."""
    import torch

    if optimiseur is None:
        with torch.no_grad():
            modele(input_ids=jetons, use_cache=False)
        return
    perte = modele(input_ids=jetons, labels=jetons, use_cache=False).loss
    perte.backward()
    optimiseur.step()
    optimiseur.zero_grad(set_to_none=False)  # les gradients restent en place d'une étape à l'autre


def mesurer(options: argparse.Namespace) -> dict[str, object]:
    """L'essai entier ; les noms sont ceux des relevés publiés, en octets (bytes) et en nanosecondes (ns)."""
    dossier = dossier_de(options.modele)
    import torch
    import transformers

    if options.lora:
        import peft  # noqa: F401 - importé ici pour compter dans la mémoire de départ
    config = transformers.AutoConfig.from_pretrained(dossier)
    getattr(transformers, config.architectures[0])  # le code de l'architecture n'est importé que si on le demande
    gc.collect()
    phases = remettre_le_pic_a_zero()
    depart = pic_octets()
    modele, optimiseur = charger(options, dossier)
    chargement = pic_octets()
    torch.manual_seed(0)
    pics, durees = [], []
    for _ in range(1 if optimiseur is None else options.etapes):
        jetons = torch.randint(0, min(1000, config.get_text_config().vocab_size), (options.lot, options.longueur))
        remettre_le_pic_a_zero()
        debut = time.perf_counter_ns()
        une_etape(modele, optimiseur, jetons)
        durees.append(time.perf_counter_ns() - debut)
        pics.append(pic_octets())
    return {
        "baseline_bytes": depart,
        "load_peak_bytes": chargement - depart,
        "step_peak_bytes": [pic - depart for pic in pics],
        "step_duration_ns": durees,
        "peak_bytes": max(pics) - depart,
        "gross_peak_bytes": max(pics),
        "peaks_include_loading": not phases,
        "parameters": sum(p.numel() for nom, p in modele.named_parameters() if "lora_" not in nom),
        "trainable_parameters": sum(p.numel() for p in modele.parameters() if p.requires_grad and optimiseur),
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }


def nombre(valeur: float, decimales: int = 0) -> str:
    """Un nombre à la française : espace fine entre les milliers, virgule décimale."""
    return f"{valeur:,.{decimales}f}".replace(",", "\u202f").replace(".", ",")


def en_clair(mesure: dict) -> str:
    """Le résultat en toutes lettres (1 Mo = 10⁶ octets)."""
    depart = mesure["baseline_bytes"]
    lignes = [
        f"Paramètres : {nombre(mesure['parameters'])}, entraînés : {nombre(mesure['trainable_parameters'])}",
        f"Mémoire de départ : {nombre(depart / 1e6)} Mo",
        f"Chargement : pic net {nombre(mesure['load_peak_bytes'] / 1e6)} Mo",
    ]
    for rang, (net, duree) in enumerate(zip(mesure["step_peak_bytes"], mesure["step_duration_ns"], strict=True), 1):
        pics = f"pic brut {nombre((net + depart) / 1e6)} Mo, net {nombre(net / 1e6)} Mo"
        lignes.append(f"Étape {rang} : {pics}, en {nombre(duree / 1e9, 1)} s")
    if mesure["peaks_include_loading"]:
        lignes.append("Ce système ne remet pas le pic à zéro : chaque pic comprend tout ce qui le précède.")
    return "\n".join(lignes)


if __name__ == "__main__":
    if sys.platform == "win32":
        raise SystemExit("Sous Windows, lancez ce script dans WSL : le pic s'y lit comme sous Linux.")
    choix = lire_options()
    if choix.seuil_fixe:
        fixer_le_seuil()
    mesure = mesurer(choix)
    print(json.dumps(mesure, indent=2) if choix.json else en_clair(mesure))
