import type { Config } from '@oclif/core'
import { bashCompletion } from './bash.js'
import { commandReferences, topicReferences } from './commands.js'
import { fishCompletion } from './fish.js'
import { commandTree } from './tree.js'
import { zshCompletion } from './zsh.js'

const WRITERS: { readonly [shell: string]: typeof bashCompletion } = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion
}

/** The completion script for a shell, with all commands of this version. */
export function completionScript(shell: string, config: Config): string {
  const write = WRITERS[shell] ?? bashCompletion
  return write(config.bin, commandTree(commandReferences(config), topicReferences(config)))
}
