// Arranges the commands as a tree of their words, for the completions.
import type { CommandReference, TopicReference } from './commands.js'

/** A word of one or more commands. */
export interface Branch {
  readonly word: string
  /** All words from the root to this branch. */
  readonly words: readonly string[]
  summary: string
  command?: CommandReference
  readonly branches: Branch[]
}

/** Returns the root of the tree; its branches are the first words of all commands. */
export function commandTree(commands: readonly CommandReference[], topics: readonly TopicReference[]): Branch {
  const root: Branch = { word: '', words: [], summary: '', branches: [] }
  for (const command of commands) {
    const branch = grow(root, command.words)
    branch.command = command
    branch.summary = command.summary
  }
  for (const { words, summary } of topics) {
    const branch = grow(root, words)
    branch.summary ||= summary
  }
  return root
}

function grow(root: Branch, words: readonly string[]): Branch {
  let at = root
  for (const word of words) {
    let next = at.branches.find(branch => branch.word === word)
    if (!next) {
      next = { word, words: [...at.words, word], summary: '', branches: [] }
      at.branches.push(next)
    }
    at = next
  }
  return at
}

/** Returns a branch and all branches below it. */
export function allBranches(branch: Branch): Branch[] {
  return [branch, ...branch.branches.flatMap(allBranches)]
}
