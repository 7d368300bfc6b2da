// Reads all objects of each repository once a week, and compares them with their checksums. So damage of the disk is noticed while
// backups still have intact copies. A run begins with the repositories that have waited longest, and leaves the rest to the next.
import { existsSync } from 'node:fs'
import { rows } from '../../../db/connect/sql.js'
import { faultsOfFiles } from '../../../git/repository/object-files.js'
import type { Task, TaskContext } from '../../../queue/task.js'
import { ofThisMachine, repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'
import { noteContents, noteFault } from './integrity.js'

/** Somewhat less than a week, because a run may be late. */
const AGAIN_AFTER_HOURS = 6.5 * 24
/** A run begins no repository after this time, because other tasks of the queue are waiting. */
const TIME_MS = 600_000
/** More repositories than a run has time for. */
const MOST = 10_000

export const repositoryContents: Task = {
  name: 'repository_contents',
  usesRepositories: true,
  schedule: '43 * * * *',
  about: 'reads all objects of each repository once a week, and compares them with their checksums',
  run: readContents
}

async function readContents({ dryRun, signal, count, note }: TaskContext) {
  const due = await findDue()
  const figures = { looked: 0, damaged: 0, unread: 0, left: 0 }
  const end = Date.now() + TIME_MS
  for (const project of due) {
    signal.throwIfAborted()
    if (Date.now() > end) break
    figures.looked += 1
    count()
    if (dryRun) continue
    const path = repositoryPath(project)
    let fault: string | undefined
    try {
      fault = existsSync(path) ? (await faultsOfFiles(path, signal))[0] : undefined
    } catch (error) {
      // Such as EACCES: the next run tries again, and this one reads the other repositories.
      const { code, message } = error as NodeJS.ErrnoException
      if (signal.aborted || code === undefined) throw error
      figures.unread += 1
      note(`project ${project.id}: ${message}`)
      continue
    }
    await noteContents(project.id)
    if (fault === undefined) continue
    figures.damaged += 1
    note(`project ${project.id}: ${fault}`)
    await noteFault(project.id, fault)
  }
  if (figures.damaged > 0) {
    throw new Error(`${figures.damaged} repositories are damaged: see the notes, and gitstead restore --project`)
  }
  if (figures.unread > 0) throw new Error(`${figures.unread} repositories cannot be read: see the notes`)
  return { ...figures, left: due.length - figures.looked }
}

function findDue(): Promise<StoredProject[]> {
  const ours = ofThisMachine('p.storage')
  return rows<StoredProject>(
    `select p.id, p.storage from projects p left join repository_checks c on c.project_id = p.id
     where (c.contents_at is null or c.contents_at < ?) and ${ours.sql} order by c.contents_at, p.id limit ${MOST}`,
    [new Date(Date.now() - AGAIN_AFTER_HOURS * 3_600_000), ...ours.values]
  )
}
