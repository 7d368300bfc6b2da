// The shared code of the commands for milestones.
import type { NamedPlace } from '../../areas/planning/milestones/administer.js'
import { changeMilestoneState } from '../../areas/planning/milestones/administer.js'
import { sortOut } from '../framework/each.js'
import { commandOrigin } from '../framework/origin.js'
import { withDatabase } from '../framework/with-database.js'
import { requireNamedProject } from '../input/named-project.js'

/** Returns the project that an argument names, with its path. Throws NoSuch. */
export async function requireNamedPlace(name: string): Promise<NamedPlace> {
  const { id, namespace_path, path } = await requireNamedProject(name)
  return { id, path: `${namespace_path}/${path}` }
}

/** Closes or activates milestones of a project. The words are the project and the titles of the milestones. */
export async function changeStates(words: readonly string[], event: 'close' | 'activate', json: boolean) {
  const [of = '', ...titles] = words
  const { done, failed } = await withDatabase(async () => {
    const place = await requireNamedPlace(of)
    return sortOut(titles, json, title => changeMilestoneState(place, title, event, commandOrigin()))
  })
  const having = (changed: boolean) => done.flatMap(({ argument, result }) => (result === changed ? [argument] : []))
  return { done: having(true), unchanged: having(false), failed }
}
