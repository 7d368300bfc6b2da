// Old deliveries, for the archive. Those of removed hooks are not kept: nobody could say to which project they belong.
import { marks, rows } from '../../../db/connect/sql.js'
import { deleteRows } from '../../../db/ownership/owned-rows.js'
import { type Candidate, PAGE, type Source } from '../records/archive-old.js'
import { lineOf } from '../records/record-line.js'

interface Attempt {
  readonly delivery_id: number
}

interface Records {
  readonly deliveries: readonly { readonly id: number }[]
  readonly attempts: readonly Attempt[]
}

export const deliverySource: Source<Records> = {
  kind: 'deliveries',
  // A payload and an answer may have megabytes.
  atOnce: 100,
  page: after =>
    rows<Candidate>(
      `select d.id, h.project_id, null as author_id, d.created_at, d.state in ('delivered', 'dead', 'canceled') as leaves
       from hook_deliveries d join hooks h on h.id = d.hook_id where d.id > ? order by d.id limit ${PAGE}`,
      [after]
    ),
  read: async (ids, lock) => ({
    deliveries: await rows<{ id: number }>(
      `select * from hook_deliveries where id in (${marks(ids)}) order by id ${lock}`,
      ids
    ),
    attempts: await rows<Attempt>(
      `select * from hook_attempts where delivery_id in (${marks(ids)}) order by id ${lock}`,
      ids
    )
  }),
  *lines({ deliveries, attempts }) {
    const attemptsOf = Map.groupBy(attempts, ({ delivery_id }) => delivery_id)
    for (const delivery of deliveries) {
      yield lineOf('hook_deliveries', delivery)
      for (const attempt of attemptsOf.get(delivery.id) ?? []) yield lineOf('hook_attempts', attempt)
    }
  },
  remove: ids => deleteRows('hook_deliveries', ids)
}
