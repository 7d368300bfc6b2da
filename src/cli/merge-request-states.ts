// What `merge-requests close` and `merge-requests reopen` have in common.
import { requireNumbers } from './record-number.js'

/** Closes or reopens the merge requests of a project. The words are the project and the numbers. */
export async function changeMergeRequestStates(words: readonly string[], event: 'close' | 'reopen', json: boolean) {
  const [of = '', ...numbers] = words
  const [
    { asked },
    { sortOut },
    { withDatabase },
    { commandOrigin },
    { requireNamedProject },
    { changeMergeRequestState }
  ] = await Promise.all([
    import('./asked.js'),
    import('./each.js'),
    import('./with-database.js'),
    import('./origin.js'),
    import('./named-project.js'),
    import('../areas/merge-requests/administer.js')
  ])
  const wanted = requireNumbers(numbers)
  const { done, failed } = await withDatabase(async () => {
    const project = await requireNamedProject(of)
    return sortOut(wanted, json, number =>
      asked('merge request', number, () => changeMergeRequestState(project, number, event, commandOrigin()))
    )
  })
  const having = (changed: boolean) => done.flatMap(({ argument, result }) => (result === changed ? [argument] : []))
  return { done: having(true), unchanged: having(false), failed }
}
