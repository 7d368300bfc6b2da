// Traces of running builds in the database, for machines that share no folder. Each row is one piece. The place where a piece begins is
// part of its key, so two processes cannot both write at the same place.
import { execute, row, rows } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import type { BuildKey } from '../../../../storage/files.js'
import type { TraceRows } from '../../../../storage/traces.js'

/** Bytes of one row: less than a packet of the database may have. */
const PIECE = 1_048_576

const OF = 'from trace_parts where build_id = ? and attempt = ?'

const size = async ({ build, attempt }: BuildKey): Promise<number> =>
  (
    await row<{ size: number }>(`select begins_at + length(content) as size ${OF} order by begins_at desc limit 1`, [
      build,
      attempt
    ])
  )?.size ?? 0

async function insert({ build, attempt }: BuildKey, begin: number, bytes: Buffer): Promise<boolean> {
  const { affectedRows } = await execute(
    'insert ignore into trace_parts (build_id, attempt, begins_at, content, created_at) values (?, ?, ?, ?, now(3))',
    [build, attempt, begin, bytes]
  )
  return affectedRows === 1
}

async function isThere({ build, attempt }: BuildKey, begin: number, bytes: Buffer): Promise<boolean> {
  const found = await row<{ content: Buffer }>(`select content ${OF} and begins_at = ?`, [build, attempt, begin])
  return found?.content.equals(bytes) ?? false
}

export const traceRowsOfBuilds: TraceRows = {
  append: async (key, chunk, requireEnd) => {
    let end = await size(key)
    requireEnd(end)
    for (let at = 0; at < chunk.length; at += PIECE) {
      const piece = Buffer.from(chunk.subarray(at, at + PIECE))
      // Another process was faster. If it has written the same bytes, this is a request that was sent twice.
      while (!(await insert(key, end, piece)) && !(await isThere(key, end, piece))) {
        end = await size(key)
        requireEnd(end)
      }
      end += piece.length
    }
    return end
  },

  replace: (key, bytes) =>
    transact(async () => {
      await execute('delete from trace_parts where build_id = ? and attempt = ?', [key.build, key.attempt])
      for (let at = 0; at < bytes.length; at += PIECE) {
        await insert(key, at, Buffer.from(bytes.subarray(at, at + PIECE)))
      }
    }),

  size,

  read: async ({ build, attempt }, start, length) => {
    const found = await rows<{ begins_at: number; content: Buffer }>(
      `select begins_at, content ${OF} and begins_at > ? and begins_at < ? order by begins_at`,
      // A piece that begins earlier may reach into the part.
      [build, attempt, Math.max(-1, start - PIECE), start + length]
    )
    const pieces = found.flatMap(({ begins_at: begin, content }) => {
      const part = content.subarray(Math.max(0, start - begin), Math.max(0, start + length - begin))
      return begin + content.length > start ? [part] : []
    })
    return Buffer.concat(pieces)
  },

  remove: async ({ build, attempt }) => {
    await execute('delete from trace_parts where build_id = ? and attempt = ?', [build, attempt])
  }
}

export interface EndedTrace extends BuildKey {
  /** False when the build does not exist any more, or was erased. */
  readonly wanted: boolean
}

/** Returns the traces in the database that no build writes any more: of builds that ended before a moment, or do not exist. */
export async function endedTraces(before: Date): Promise<EndedTrace[]> {
  const found = await rows<{ build: number; attempt: number; wanted: number }>(
    `select p.build_id as build, p.attempt, b.id is not null and b.erased_at is null as wanted
     from (select build_id, attempt from trace_parts group by build_id, attempt) p left join builds b on b.id = p.build_id
     where b.id is null or b.attempt > p.attempt or b.erased_at is not null
       or b.finished_at < ? and b.status in ('success', 'failed', 'canceled')
     order by p.build_id, p.attempt`,
    [before]
  )
  return found.map(({ build, attempt, wanted }) => ({ build, attempt, wanted: wanted === 1 }))
}
