// What users do with their own to-dos by the API.
import type { Actor } from '../../../access/actor.js'
import { recountTotals } from '../../../db/lists/count-cache.js'
import { finishTodos } from './todos.js'
import { pendingIds, requireTodo, type TodoRow } from './todos.queries.js'
import type { TodoFilter } from './todos.schema.js'

/** Makes a to-do of the asker done; one that is done stays as it is. Throws NotFound. */
export async function finishTodo(id: number, actor: Actor): Promise<TodoRow> {
  const found = await requireTodo(id, actor)
  if (found.state === 'done') return found
  await finishTodos([id])
  recountTotals()
  return { ...found, state: 'done' }
}

const AT_ONCE = 1000

/** Makes the to-dos of a list done, as far as they are pending. Returns how many. */
export async function finishListed(filter: TodoFilter, actor: Actor): Promise<number> {
  if (filter.state === 'done') return 0
  let done = 0
  for (let before = 4_294_967_295; ; ) {
    const ids = await pendingIds(filter, actor, { before, most: AT_ONCE })
    done += await finishTodos(ids)
    const last = ids.at(-1)
    if (last === undefined || ids.length < AT_ONCE) break
    before = last
  }
  if (done > 0) recountTotals()
  return done
}
