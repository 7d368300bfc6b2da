// Users mark their own to-dos as done in the API.
import type { Actor } from '../../../access/actor.js'
import { recountTotals } from '../../../db/lists/count-cache.js'
import { finishTodos } from './todos.js'
import { pendingIds, requireTodo, type TodoRow } from './todos.queries.js'
import type { TodoFilter } from './todos.schema.js'

/** Marks a to-do of the caller as done; one that is done stays unchanged. Throws NotFound. */
export async function finishTodo(id: number, actor: Actor): Promise<TodoRow> {
  const found = await requireTodo(id, actor)
  if (found.state === 'done') return found
  await finishTodos([id])
  recountTotals()
  return { ...found, state: 'done' }
}

const AT_ONCE = 1000

/** Marks the pending to-dos of a list as done. Returns how many. */
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
