// The shared code of `issues close` and `issues reopen`.

import { changeIssueState } from '../../areas/planning/issues/administer.js'
import { sortOut } from '../framework/each.js'
import { commandOrigin } from '../framework/origin.js'
import { withDatabase } from '../framework/with-database.js'
import { requireNamedProject } from '../input/named-project.js'
import { requireNumbers } from '../input/record-number.js'

/** Closes or reopens issues of a project. The words are the project and the numbers of the issues. */
export async function changeStates(words: readonly string[], event: 'close' | 'reopen', json: boolean) {
  const [of = '', ...numbers] = words
  const wanted = requireNumbers(numbers)
  const { done, failed } = await withDatabase(async () => {
    const project = await requireNamedProject(of)
    return sortOut(wanted, json, number => changeIssueState(project, number, event, commandOrigin()))
  })
  const having = (changed: boolean) => done.flatMap(({ argument, result }) => (result === changed ? [argument] : []))
  return { done: having(true), unchanged: having(false), failed }
}
