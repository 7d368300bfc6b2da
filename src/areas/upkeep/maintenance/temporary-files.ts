// Finds leftovers of killed processes: in HOME/tmp, drafts of stored files, and drafts of secrets.json in HOME.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { config } from '../../../config.js'
import { isWorkFolder } from '../../../runner/folders.js'
import { draftFolders } from '../../../storage/put-file.js'
import { changedSince } from '../../../storage/stored-files.js'

/** The embedded database keeps its temporary files there too, and may have them open while it runs. */
const DATABASE = /^(#sql|ib|ML|MY|aria)/

/**
 * Returns paths in HOME/tmp and drafts of files and secrets that no process uses, and that, with their contents, have not changed
 * since `before` (milliseconds). A build may run for days without changing a file, so work folders do not count: workers remove
 * those of killed processes.
 */
export async function leftovers(before: number): Promise<string[]> {
  const { home } = config()
  const names = (await namesIn(join(home, 'tmp'))).filter(name => !DATABASE.test(name) && !isWorkFolder(name))
  const drafts = (await namesIn(home)).filter(name => /^secrets\.json\.\d+$/.test(name))
  const paths = [...names.map(name => join(home, 'tmp', name)), ...drafts.map(name => join(home, name))]
  for (const folder of draftFolders()) paths.push(...(await namesIn(folder)).map(name => join(folder, name)))
  const old: string[] = []
  for (const path of paths) if (!(await changedSince(path, before))) old.push(path)
  return old
}

async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
