import { rows } from '../../../db/connect/sql.js'

export interface RunningBuild {
  readonly id: number
  readonly project_id: number
  /** NAMESPACE/PROJECT. */
  readonly project: string
  readonly name: string
  readonly stage: string
  readonly ref: string
  readonly started_at: Date | null
  /** The host of the worker. Null with an external runner, and when the worker died: the next one starts the build again. */
  readonly hostname: string | null
  readonly pid: number | null
  /** The display name of the external runner that has it; null with the built-in one. */
  readonly runner: string | null
}

/** Returns at most 100 running builds, most recently started first. */
export function runningBuilds(): Promise<RunningBuild[]> {
  return rows<RunningBuild>(
    `select b.id, b.project_id, concat(n.path, '/', p.path) as project, b.name, b.stage, b.ref, b.started_at,
       w.hostname, w.pid, if(o.built_in = 1, null, o.description) as runner
     from builds b force index (builds_queue)
       join projects p on p.id = b.project_id join namespaces n on n.id = p.namespace_id
       left join job_processes w on w.id = b.process_id left join runners o on o.id = b.runner_id
     where b.status = 'running' order by b.started_at desc, b.id desc limit 100`
  )
}
