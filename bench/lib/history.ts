// Makes the big repository: 80,000 commits on 4,000 files in deep folders, with merges and tags. git fast-import makes it once;
// it stays among the temporary files of the system.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { keptFolder } from './cache.js'
import { runGit } from './git.js'

const COMMITS = 80_000
const FILES = 4000
const LINES = 24

/** The path of file number `index`: 400 files are in one folder, the others are four folders deep. */
export function pathOfFile(index: number): string {
  if (index < 400) return `docs/page-${index}.md`
  const at = index - 400
  const area = at % 20
  const module = Math.floor(at / 20) % 9
  return `src/area-${area}/module-${module}/file-${Math.floor(at / 180)}.ts`
}

/** Folders with about 20 files, like most of the folders. */
export const FOLDERS = Array.from({ length: 180 }, (_, at) => `src/area-${at % 20}/module-${Math.floor(at / 20)}`)
export const FILE_COUNT = FILES

/** The folder of the repository. The first call on a machine makes the repository, which takes about half a minute. */
export const bigRepository = (): Promise<string> =>
  keptFolder('history', '1.git', async draft => {
    process.stderr.write('bench: making the repository of 80,000 commits\n')
    await runGit(['init', '--quiet', '--bare', '--initial-branch=master', draft])
    await importHistory(draft)
    await runGit(['-C', draft, 'update-ref', '-d', 'refs/heads/topic'])
    await runGit(['-C', draft, 'repack', '-a', '-d', '-q', '--write-bitmap-index'])
  })

async function importHistory(path: string): Promise<void> {
  const child = spawn('git', ['-C', path, 'fast-import', '--quiet', '--force'], {
    stdio: ['pipe', 'ignore', 'inherit']
  })
  const ended = once(child, 'exit')
  const revisions = Array.from({ length: FILES }, () => new Uint16Array(LINES))
  let text = ''
  for (let number = 1; number <= COMMITS; number++) {
    text += commitText(number, revisions)
    if (text.length < 1_000_000) continue
    if (!child.stdin.write(text)) await once(child.stdin, 'drain')
    text = ''
  }
  child.stdin.end(text)
  const [code] = await ended
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
}

function commitText(number: number, revisions: Uint16Array[]): string {
  const topic = number % 32 === 8 && number > 100
  const merge = number % 32 === 16 && number > 100
  const branch = topic ? 'topic' : 'master'
  const message = `Change number ${number}\n\nSome words on why change ${number} was made.\n`
  return [
    `commit refs/heads/${branch}\nmark :${number}\n`,
    `committer Person ${number % 50} <person-${number % 50}@example.org> ${1_500_000_000 + number * 600} +0000\n`,
    `data ${message.length}\n${message}`,
    topic ? `from :${number - 4}\n` : '',
    merge ? `merge :${number - 8}\n` : '',
    ...filesOf(number, topic).map(index => fileText(index, number, revisions)),
    number % 4000 === 0 ? `reset refs/tags/v${number / 4000}\nfrom :${number}\n` : ''
  ].join('')
}

/** The first 40 commits add a hundred files each; later ones change one or two, some files much more than others. */
function filesOf(number: number, topic: boolean): number[] {
  if (number <= 40) return Array.from({ length: 100 }, (_, at) => (number - 1) * 100 + at)
  // A topic changes other files than master does, so that merges never conflict.
  if (topic) return [number % FILES]
  const spread = (number * 2_654_435_761) % 2 ** 32
  const first = number % 3 === 0 ? spread % 200 : spread % FILES
  return number % 2 === 0 ? [first] : [first, (spread >>> 7) % FILES]
}

function fileText(index: number, number: number, revisions: Uint16Array[]): string {
  const lines = revisions[index] ?? new Uint16Array(LINES)
  lines[number % LINES] = number % 65_536
  let content = ''
  for (let line = 0; line < LINES; line++) content += `line ${line} of file ${index} at revision ${lines[line]}\n`
  return `M 100644 inline ${pathOfFile(index)}\ndata ${content.length}\n${content}`
}
