import { execute } from '../../../../src/db/connect/sql.js'
import { ADMINISTRATOR, created } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'

async function aDeadJob() {
  const now = new Date()
  const { insertId } = await execute(
    "insert into jobs (queue, name, payload, state, run_at, created_at) values ('mail', 'x', '{}', 'dead', ?, ?)",
    [now, now]
  )
  return { params: { id: insertId } }
}

async function aBuild(status: string) {
  const { insertId } = await execute(
    `insert into builds (pipeline_id, project_id, name, stage, stage_index, ref, tag, sha, status, start_when, allow_failure,
       tag_list, tag_list_hash, plan, created_at, updated_at)
     select pipeline_id, project_id, name, stage, stage_index, ref, tag, sha, ?, start_when, allow_failure, tag_list,
       tag_list_hash, plan, created_at, updated_at from builds limit 1`,
    [status]
  )
  return { params: { id: insertId } }
}

const aQueue = () => ({ params: { queue: 'mail' } })

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/bgjobs/queue_metrics': { expected: ADMINISTRATOR },
    'GET /api/v3/bgjobs/process_metrics': { expected: ADMINISTRATOR },
    'GET /api/v3/bgjobs/job_stats': { expected: ADMINISTRATOR },
    'GET /api/v3/bgjobs/compound_metrics': { expected: ADMINISTRATOR },
    'GET /api/v3/bgjobs/overview': { expected: ADMINISTRATOR },
    'GET /api/v3/bgjobs/jobs': { expected: ADMINISTRATOR },
    'GET /api/v3/bgjobs/search': { expected: ADMINISTRATOR },
    'GET /api/v3/bgjobs/builds': { expected: ADMINISTRATOR },
    'GET /api/v3/bgjobs/builds/:id': { expected: ADMINISTRATOR, specimen: () => aBuild('failed') },
    'POST /api/v3/bgjobs/builds/:id/cancel': { expected: created(ADMINISTRATOR), specimen: () => aBuild('pending') },
    'POST /api/v3/bgjobs/builds/:id/retry': { expected: created(ADMINISTRATOR), specimen: () => aBuild('failed') },
    'GET /api/v3/bgjobs/jobs/:id': { expected: ADMINISTRATOR, specimen: aDeadJob },
    'POST /api/v3/bgjobs/jobs/:id/retry': { expected: created(ADMINISTRATOR), specimen: aDeadJob },
    'DELETE /api/v3/bgjobs/jobs/:id': { expected: ADMINISTRATOR, specimen: aDeadJob },
    'POST /api/v3/bgjobs/queues/:queue/pause': { expected: created(ADMINISTRATOR), specimen: aQueue },
    'POST /api/v3/bgjobs/queues/:queue/resume': { expected: created(ADMINISTRATOR), specimen: aQueue }
  }
}
