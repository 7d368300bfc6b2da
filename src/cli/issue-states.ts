// What `issues close` and `issues reopen` have in common.
import { requireNumbers } from './record-number.js'

/** Closes or reopens the issues of a project. The words are the project and the numbers. */
export async function changeStates(words: readonly string[], event: 'close' | 'reopen', json: boolean) {
  const [of = '', ...numbers] = words
  const [{ sortOut }, { withDatabase }, { commandOrigin }, { requireNamedProject }, { changeIssueState }] =
    await Promise.all([
      import('./each.js'),
      import('./with-database.js'),
      import('./origin.js'),
      import('./named-project.js'),
      import('../areas/issues/administer.js')
    ])
  const wanted = requireNumbers(numbers)
  const { done, failed } = await withDatabase(async () => {
    const project = await requireNamedProject(of)
    return sortOut(wanted, json, number => changeIssueState(project, number, event, commandOrigin()))
  })
  const having = (changed: boolean) => done.flatMap(({ argument, result }) => (result === changed ? [argument] : []))
  return { done: having(true), unchanged: having(false), failed }
}
