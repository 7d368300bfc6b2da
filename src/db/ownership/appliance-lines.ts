// The lines of ownership.ts for the appliance itself and its queue.
import { deletedWith, erasedAfter, keptAfter, type Line } from './terms.js'

export const APPLIANCE_LINES = {
  // The appliance.
  application_settings: { writer: 'ground/settings', encrypted: ['runners_token_encrypted', 'id_token_key_encrypted'] },
  broadcast_messages: { writer: 'reach/broadcasts' },
  // The rows contain names as well as ids, because they stay when the author or the target of the change is removed.
  audit_events: { writer: 'ground/audit', owners: [keptAfter('users', 'actor_id')], others: ['target_id'] },
  maintenance_runs: { writer: 'upkeep/maintenance' },
  // Files of old records, each of one project. Those of the activity also belong to one user.
  archived_files: {
    writer: 'ground/records',
    owners: [erasedAfter('projects'), erasedAfter('users', 'author_id')]
  },
  database_marks: { writer: 'db/connect', backup: false },
  sent_forms: { writer: 'ground/forms', backup: false },
  maintenance_locks: { writer: 'upkeep/maintenance', backup: false },

  // The queue. Backups contain the jobs, so no accepted work is lost. The jobs of processes that have ended run again.
  jobs: { writer: 'queue', others: ['process_id'] },
  job_failures: { writer: 'queue', owners: [deletedWith('jobs')] },
  job_processes: { writer: 'queue', backup: false },
  machines: { writer: 'cluster', backup: false },
  storages: { writer: 'cluster', backup: false },
  job_totals: { writer: 'queue' },
  paused_queues: { writer: 'queue' },
  queue_minutes: { writer: 'queue', others: ['process_id'] },
  schedule_ticks: { writer: 'queue', backup: false }
} satisfies { readonly [table: string]: Line }
