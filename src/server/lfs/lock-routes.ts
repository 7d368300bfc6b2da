// The locks of git LFS over HTTP.
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { type Actor, originOf } from '../../access/actor.js'
import { levelIn } from '../../access/authorize.js'
import { AlreadyLocked, createLock, type LockRow, listLocks, removeLock } from '../../areas/projects/lfs/locks.js'
import type { ProjectRow } from '../../areas/projects/projects/projects.queries.js'
import { Forbidden, Unprocessable } from '../../errors.js'
import { MASTER } from '../../lib/levels.js'
import { Flag, Integer, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import type { GitPath } from '../git-access.js'
import { openLfs } from './access.js'
import { answerLfs, bodyReader } from './answers.js'

/** Clients name the branch that they push. A lock is for all branches. */
const ref = Type.Optional(Type.Unsafe<unknown>({}))
const cursor = Text('where the page begins', { maxLength: 20 })

const readCreation = bodyReader(Type.Object({ path: Text('the path of the file', { maxLength: 10_000 }), ref }))
const readRemoval = bodyReader(Type.Object({ force: Type.Optional(Flag('also the lock of another user')), ref }))
const readVerification = bodyReader(
  Type.Object({
    cursor: Type.Optional(cursor),
    limit: Type.Optional(Integer('the most locks of one page', { minimum: 0 })),
    ref
  })
)
const readFilter = bodyReader(
  Type.Object({
    path: Type.Optional(Text('the path of a file', { maxLength: 10_000 })),
    id: Type.Optional(Text('the id of a lock', { maxLength: 20 })),
    cursor: Type.Optional(cursor),
    limit: Type.Optional(Text('the most locks of one page', { maxLength: 10 }))
  })
)

const PAGE = 100
const hidden = { hide: true } as object
const route = { public: true, anyMachine: true } as const
const reads = { ...route, duringMaintenance: true } as const

export const lfsLockRoutes: FastifyPluginAsync = async app => {
  app.get<{ Params: GitPath }>(
    '/:namespace/:project/info/lfs/locks',
    { config: reads, schema: hidden },
    async (request, reply) => {
      const { project } = await openLfs(request, 'download')
      const filter = readFilter(request.query)
      const { id, path } = filter
      // An id that no lock can have.
      if (id !== undefined && !/^\d{1,9}$/.test(id)) return answerLfs(reply, { locks: [] })
      const { locks, next } = await pageOf(project, {
        ...filter,
        limit: numberOf(filter.limit),
        id: numberOf(id),
        path
      })
      return answerLfs(reply, { locks: locks.map(viewLock), ...next })
    }
  )

  app.post<{ Params: GitPath }>(
    '/:namespace/:project/info/lfs/locks',
    { config: route, schema: hidden },
    async (request, reply) => {
      const { actor, project } = await openLfs(request, 'upload')
      const { path } = readCreation(request.body)
      requirePerson(actor)
      try {
        const lock = await createLock(project, path, originOf(actor, request.address))
        return answerLfs(reply, { lock: viewLock(lock) }, 201)
      } catch (error) {
        if (error instanceof AlreadyLocked) return answerTaken(reply, error)
        throw error
      }
    }
  )

  app.post<{ Params: GitPath }>(
    '/:namespace/:project/info/lfs/locks/verify',
    { config: reads, schema: hidden },
    async (request, reply) => {
      const { actor, project } = await openLfs(request, 'upload')
      const asked = readVerification(request.body)
      const { locks, next } = await pageOf(project, asked)
      const isOurs = ({ user_id }: LockRow) => user_id === actor.user?.id
      return answerLfs(reply, {
        ours: locks.filter(isOurs).map(viewLock),
        theirs: locks.filter(lock => !isOurs(lock)).map(viewLock),
        ...next
      })
    }
  )

  app.post<{ Params: GitPath & { lock: string } }>(
    '/:namespace/:project/info/lfs/locks/:lock/unlock',
    { config: route, schema: hidden },
    async (request, reply) => {
      const { actor, project } = await openLfs(request, 'upload')
      const { force = false } = readRemoval(request.body ?? {})
      requirePerson(actor)
      const id = numberOf(request.params.lock) ?? 0
      const mayForce = levelIn(project, actor) >= MASTER
      const lock = await removeLock(project, { id, force, mayForce }, originOf(actor, request.address))
      return answerLfs(reply, { lock: viewLock(lock) })
    }
  )
}

/** A lock belongs to a person. */
function requirePerson({ user }: Actor): void {
  if (!user) throw new Forbidden('a deploy key cannot lock files')
}

interface AskedPage {
  readonly path?: string | undefined
  readonly id?: number | undefined
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

async function pageOf({ id: project }: ProjectRow, { path, id, cursor, limit }: AskedPage) {
  const after = numberOf(cursor)
  const page = Math.min(limit || PAGE, PAGE)
  const { locks, isMore } = await listLocks(project, { path, id, after, limit: page })
  const last = locks.at(-1)
  return { locks, next: isMore && last ? { next_cursor: String(last.id) } : {} }
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^\d{1,9}$/.test(text)) throw new Unprocessable('cursor, id and limit must be numbers')
  return Number(text)
}

const viewLock = ({ id, path, username, created_at }: LockRow) => ({
  id: String(id),
  path,
  locked_at: created_at.toISOString(),
  owner: { name: username }
})

const answerTaken = (reply: FastifyReply, { lock, message }: AlreadyLocked): FastifyReply =>
  answerLfs(reply, { lock: viewLock(lock), message }, 409)
