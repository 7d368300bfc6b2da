// Builds the bash script of one step. It quotes all values. Only the commands are taken as the user wrote them.
import { canExport } from './variables.js'

/**
 * The script would inherit descriptors that this process got from its own parent, so bash closes all of them except its
 * own input (255). It also asks the kernel to end the build first when memory runs out, because the total memory has no
 * limit.
 */
const PREAMBLE = `for descriptor in /proc/self/fd/*; do
  descriptor=\${descriptor##*/}
  if [ "$descriptor" -gt 2 ] && [ "$descriptor" -ne 255 ]; then eval "exec $descriptor>&-"; fi
done
unset descriptor
{ echo 800 >/proc/self/oom_score_adj; } 2>/dev/null || :`

/** Returns a word that bash reads as exactly this text. */
export const quoted = (text: string): string => `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`

/**
 * Returns one shell script for a list of commands. It shows each command before it runs, and ends at the first command
 * that fails. The commands follow each other as text, so that one command may span several entries of the list.
 */
export function shellScript(variables: Map<string, string>, commands: readonly string[]): string {
  const exports = [...variables].flatMap(([key, value]) => (canExport(key) ? `export ${key}=${quoted(value)}` : []))
  const lines = commands.flatMap(command => [`printf '%s\\n' ${quoted(`$ ${command}`)}`, command.replaceAll('\0', '')])
  return `${[PREAMBLE, ...exports, 'set -eo pipefail', ...lines].join('\n')}\n`
}
