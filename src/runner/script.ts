// Builds the bash script of one step. It quotes all values. Only the commands are used as the user wrote them.
import { canExport } from './variables.js'

/**
 * The script would inherit descriptors that this process got from its own parent, so bash closes all of them except its own
 * input (255) and the one to keep. It also asks the kernel to end the build first when memory runs out: an ordinary worker cannot
 * set that for a process of a sandbox before the process runs.
 */
const preamble = (kept: number) => `for descriptor in /proc/self/fd/*; do
  descriptor=\${descriptor##*/}
  case $descriptor in [012]|255|${kept}) ;; *) eval "exec $descriptor>&-" ;; esac
done
unset descriptor
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null || :`

/** Returns a word that bash reads as exactly this text. */
const quoted = (text: string): string => `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`

/**
 * Returns one shell script for a list of commands. It shows each command before it runs, and ends at the first command
 * that fails. The commands follow each other as text, so that one command may span several entries of the list.
 */
export function shellScript(variables: Map<string, string>, commands: readonly string[]): string {
  return `${[preamble(255), ...exportsOf(variables), 'set -eo pipefail', ...shown(commands)].join('\n')}\n`
}

const shown = (commands: readonly string[]) =>
  commands.flatMap(command => [`printf '%s\\n' ${quoted(`$ ${command}`)}`, command.replaceAll('\0', '')])

const exportsOf = (variables: Map<string, string>) =>
  [...variables].flatMap(([key, value]) => (canExport(key) ? `export ${key}=${quoted(value)}` : []))

/** The same for any shell in a container, which already has the other variables. Not every shell supports pipefail. */
export function containerScript(variables: Map<string, string>, commands: readonly string[]): string {
  const settings = ['set -e', 'if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi']
  return `${[...exportsOf(variables), ...settings, ...shown(commands)].join('\n')}\n`
}

/** Returns a script of the runner itself, which shows no commands and keeps the descriptor `kept`. */
export function quietScript(commands: readonly string[], kept: number): string {
  return `${[preamble(kept), 'set -e', ...commands].join('\n')}\n`
}
