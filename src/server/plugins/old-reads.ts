// Lets requests that only read use a replica of the database (db/connect/replica.ts), unless their user has just written. The user and
// the rights were read from the writing server before.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { hasWrittenLately, noteDoneWriteOf, noteWriteOf } from '../../areas/people/credentials/uses/own-writes.js'
import { hasReplica } from '../../db/connect/replica.js'
import { requestScope } from '../../lib/request-scope.js'

/** Milliseconds after which the note from before a write may be too old. */
const LONG_MS = 1000

/** Call it after `guardRoutes`. */
export function readFromReplica(app: FastifyInstance): void {
  if (!hasReplica()) return
  app.addHook('preHandler', (request, _reply, done) => {
    if (isRead(request)) {
      mayReadOld(request)
      return done()
    }
    noteEach(request, noteWriteOf).then(() => done(), done)
  })
  // Before the answer, so that the next request of the client finds the note.
  app.addHook('onSend', (request, { elapsedTime }, _payload, done) => {
    if (isRead(request) || elapsedTime < LONG_MS) return done()
    noteEach(request, noteDoneWriteOf).then(() => done(), done)
  })
}

const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD'

/** Asks only when a list wants to know, and once. */
function mayReadOld({ actor }: FastifyRequest): void {
  const scope = requestScope.getStore()
  if (!scope) return
  const users = idsOf(actor)
  let answer: Promise<boolean> | undefined
  scope.mayReadOld = () => {
    answer ??= Promise.all(users.map(hasWrittenLately)).then(wrote => !wrote.includes(true))
    return answer
  }
}

async function noteEach({ actor }: FastifyRequest, note: (user: number) => Promise<void>): Promise<void> {
  for (const id of idsOf(actor)) await note(id)
}

/** With sudo, an administrator acts for another user: both may look at the result. */
const idsOf = (actor: FastifyRequest['actor'] | null): number[] =>
  [actor?.user?.id, actor?.sudoer?.id].filter(id => id !== undefined)
