"""The command line: `bccontam run | predict | report | plan | demo`.

Each command's flags are the inputs of the action with the same words; this module only turns them into
Settings and calls the command. Messages go to standard error, results to standard output.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from bccontam import __version__
from bccontam.errors import BccontamError
from bccontam.interpreter import lean_interpreter

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS = {
    "run": "Ask a model about every entry, then report the contamination signal.",
    "predict": "Ask a model about every entry and store the answers.",
    "report": "Report on stored results; no model is asked.",
    "plan": "Say what a run would ask and could detect; no model is asked.",
    "demo": "Run the whole way on a bundled sample benchmark.",
}
FLAG_NAMES = {"json_file": "json", "html_file": "html"}
_BOOLEANS = ("reveal_answers", "group_by_model", "json_schema")


class _Commands(click.Group):
    """Commands made when they are asked for, so that `--version` loads none of what they need."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        if name == "demo":
            return click.Command("demo", callback=_demo, params=[_demo_folder()], help=COMMANDS["demo"])
        return click.Command(name, callback=_callback(name), params=_parameters(name), help=COMMANDS[name])


@click.command(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="bccontam")
def program() -> None:
    """Measure how much a model may have memorised a benchmark: with nothing but the bug report, which files
    must the fix change?"""


def _parameters(mode: str) -> list[click.Parameter]:
    from bccontam import settings

    parameters: list[click.Parameter] = []
    for name in settings.flags(mode):
        flag = f"--{FLAG_NAMES.get(name, name.replace('_', '-'))}"
        field = settings.Settings.model_fields[name]
        default = settings.default_text(name)
        help_text = str(field.description).replace("`", "") + (f" [{default}]" if default else "")
        boolean: dict[str, Any] = {"is_flag": False, "flag_value": "true"} if name in _BOOLEANS else {}
        parameters.append(click.Option([flag, name], help=help_text, metavar="TEXT", type=str, **boolean))
    return parameters


def _callback(mode: str) -> Callable[..., None]:
    def call(**flags: str | None) -> None:
        from bccontam import commands
        from bccontam.settings import make_settings
        from bccontam.terminal import terminal_effects

        given = {name: text for name, text in flags.items() if text is not None}
        settings = make_settings({"mode": mode, **given})
        raise SystemExit(commands.execute(settings, terminal_effects()))

    return call


def _demo_folder() -> click.Parameter:
    return click.Option(
        ["--results-dir", "results_dir"],
        default="demo-results",
        help="Where results, the report and its page are written. [demo-results]",
    )


def _demo(results_dir: str) -> None:
    from bccontam import commands
    from bccontam.demo import demo_settings
    from bccontam.terminal import terminal_effects

    raise SystemExit(commands.execute(demo_settings(results_dir), terminal_effects()))


def main() -> None:
    """The console script: a user's mistake is one sentence on standard error and the contract's exit code."""
    try:
        with lean_interpreter():
            program.main(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        raise SystemExit(2) from None
    except click.UsageError as error:
        click.echo(f"bccontam: {error.format_message()} See `bccontam --help`.", err=True)
        raise SystemExit(2) from None
    except (click.Abort, KeyboardInterrupt):
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
    except BccontamError as error:
        from bccontam.github.log import printable

        click.echo(f"bccontam: {printable(str(error))}", err=True)
        raise SystemExit(error.exit_code) from None
