import type { Config } from '@oclif/core'
import { bashCompletion } from './bash.js'
import { commandReferences, topicReferences } from './commands.js'
import { fishCompletion } from './fish.js'
import { fixedWords, withNames } from './names.js'
import { commandTree } from './tree.js'
import { zshCompletion } from './zsh.js'

const WRITERS: { readonly [shell: string]: typeof bashCompletion } = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion
}

/** Returns the completion script for a shell, with all commands and fixed names of this version. */
export async function completionScript(shell: string, config: Config): Promise<string> {
  const write = WRITERS[shell] ?? bashCompletion
  const commands = withNames(commandReferences(config), await fixedWords())
  return write(config.bin, commandTree(commands, topicReferences(config)))
}
