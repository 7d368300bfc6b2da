// The history of an ordinary project: 300 commits on 150 files.
import { runGit } from '../git.js'

const COMMITS = 300
const FILES = 150
const LINES = 40

/** The paths of the files; all of them are in the newest commit. */
export const PATHS = Array.from({ length: FILES }, (_, at) => pathOf(at))

function pathOf(at: number): string {
  if (at < 10) return `notes-${at}.md`
  return at < 40 ? `docs/page-${at}.md` : `src/part-${at % 10}/file-${at}.ts`
}

/** Writes the history into an empty repository, on master. */
export async function writeHistory(repository: string): Promise<void> {
  const commits = Array.from({ length: COMMITS }, (_, number) => commitText(number))
  await runGit(['-C', repository, 'fast-import', '--quiet'], commits.join(''))
}

function commitText(number: number): string {
  const message = `Change number ${number}\n\nSome words on why change ${number} was made.\n`
  const changed = number === 0 ? PATHS.keys() : [(number * 37) % FILES, (number * 91) % FILES]
  return [
    `commit refs/heads/master\ncommitter Person ${number % 20} <person-${number % 20}@example.org> `,
    `${1_600_000_000 + number * 3600} +0000\ndata ${message.length}\n${message}`,
    ...[...new Set(changed)].map(at => fileText(at, number))
  ].join('')
}

function fileText(at: number, number: number): string {
  let content = ''
  for (let line = 0; line < LINES; line++) {
    content += `line ${line} of file ${at} at revision ${line === number % LINES ? number : 0}\n`
  }
  return `M 100644 inline ${PATHS[at]}\ndata ${content.length}\n${content}`
}
