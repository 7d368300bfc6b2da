// The bash script of one step. Values are quoted; only the commands themselves are taken as the user wrote them.
import { canExport } from './variables.js'

/**
 * Descriptors that this process got from its own parent would reach the script: bash closes all but its own input (255),
 * and asks the kernel to end the build first when memory runs out, as the sum of it is not limited.
 */
const preamble = `for descriptor in /proc/self/fd/*; do
  descriptor=\${descriptor##*/}
  if [ "$descriptor" -gt 2 ] && [ "$descriptor" -ne 255 ]; then eval "exec $descriptor>&-"; fi
done
unset descriptor
{ echo 800 >/proc/self/oom_score_adj; } 2>/dev/null || :`

/** A word that bash takes as exactly this text. */
export const quoted = (text: string): string => `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`

/**
 * One shell for a list of commands: each is shown before it runs, and the first that fails ends it. They follow each
 * other as text, so that one may span several entries of the list.
 */
export function shellScript(variables: Map<string, string>, commands: string[]): string {
  const exports = [...variables].flatMap(([key, value]) => (canExport(key) ? `export ${key}=${quoted(value)}` : []))
  const lines = commands.flatMap(command => [`printf '%s\\n' ${quoted(`$ ${command}`)}`, command.replaceAll('\0', '')])
  return `${[preamble, ...exports, 'set -eo pipefail', ...lines].join('\n')}\n`
}
