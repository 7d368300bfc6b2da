// The shared code of `merge-requests close` and `merge-requests reopen`.

import { changeMergeRequestState } from '../../areas/planning/merge-requests/administer.js'
import { sortOut } from '../framework/each.js'
import { commandOrigin } from '../framework/origin.js'
import { withDatabase } from '../framework/with-database.js'
import { requireNamedProject } from '../input/named-project.js'
import { orNotFound } from '../input/or-not-found.js'
import { requireNumbers } from '../input/record-number.js'

/** Closes or reopens merge requests of a project. The words are the project and the numbers of the merge requests. */
export async function changeMergeRequestStates(words: readonly string[], event: 'close' | 'reopen', json: boolean) {
  const [of = '', ...numbers] = words
  const wanted = requireNumbers(numbers)
  const { done, failed } = await withDatabase(async () => {
    const project = await requireNamedProject(of)
    return sortOut(wanted, json, number =>
      orNotFound('merge request', number, () => changeMergeRequestState(project, number, event, commandOrigin()))
    )
  })
  const having = (changed: boolean) => done.flatMap(({ argument, result }) => (result === changed ? [argument] : []))
  return { done: having(true), unchanged: having(false), failed }
}
