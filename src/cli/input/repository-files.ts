// Reads the files of a checkout, for a CI file that includes other files.
import { lstat, readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ciTemplate } from '../../areas/ci/templates/files.js'

/** At most this many files are listed. */
const MOST_FILES = 200_000

/** Returns access to the files around `file`: those of its checkout, or of its folder when it is not in a checkout. */
export async function filesAround(file: string, limit: number) {
  const root = await rootOf(dirname(resolve(file)))
  return {
    read: async (path: string): Promise<string | null> => {
      const full = join(root, path)
      const found = await lstat(full).catch(() => null)
      return found?.isFile() && found.size <= limit ? readFile(full, 'utf8') : null
    },
    list: () => listFiles(root),
    template: ciTemplate
  }
}

/** Returns the nearest folder with a `.git`, or the folder itself. */
async function rootOf(folder: string): Promise<string> {
  for (let at = folder; ; at = dirname(at)) {
    if (await lstat(join(at, '.git')).catch(() => null)) return at
    if (dirname(at) === at) return folder
  }
}

async function listFiles(root: string): Promise<string[]> {
  const paths: string[] = []
  const open = ['']
  for (let folder = open.pop(); folder !== undefined && paths.length < MOST_FILES; folder = open.pop()) {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isFile()) paths.push(path)
      else if (entry.isDirectory() && entry.name !== '.git') open.push(path)
    }
  }
  return paths.sort()
}
