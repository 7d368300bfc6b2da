// Questions about the changes of single commits. Those asked in one turn of the program go to one `diff-tree --stdin`:
// a push of 20 commits costs one process and not 20.
import { readCommit } from './objects.js'
import { runGit } from './run.js'

type Kind = 'stats' | 'paths'
type Question = { id: string; settle: (tokens: string[]) => void; fail: (error: unknown) => void }

const formats: Record<Kind, string[]> = {
  stats: ['--shortstat'],
  paths: ['--name-status', '--no-renames', '-z']
}
const batchLimit = 100
const maxOutput = 16 * 1024 * 1024

const batches = new Map<string, Question[]>()

/**
 * What diff-tree says about a commit against its first parent, cut at line ends (stats) or NULs (paths); null when there
 * is no such commit. Throws GitFailure when the answer is larger than 16 MiB.
 */
export async function askDiffs(repository: string, kind: Kind, id: string): Promise<string[] | null> {
  const commit = await readCommit(repository, id)
  if (!commit) return null
  const line = [id, ...commit.parentIds.slice(0, 1)].join(' ')
  return await new Promise((settle, fail) => {
    const key = `${kind}\0${repository}`
    const batch = batches.get(key)
    if (batch && batch.length < batchLimit) {
      batch.push({ id: line, settle, fail })
      return
    }
    const started: Question[] = [{ id: line, settle, fail }]
    batches.set(key, started)
    setImmediate(() => {
      if (batches.get(key) === started) batches.delete(key)
      void answer(repository, kind, started)
    })
  })
}

async function answer(repository: string, kind: Kind, questions: Question[]): Promise<void> {
  try {
    const args = ['diff-tree', '--stdin', '--root', '-r', '--no-ext-diff', '--no-textconv', ...formats[kind]]
    const input = questions.map(question => `${question.id}\n`).join('')
    const output = await runGit(args, { repository, input, maxOutput, timeout: 60 })
    const parts = cut(output.toString().split(kind === 'paths' ? '\0' : '\n'))
    for (const { id, settle } of questions) settle(parts.get(id.slice(0, 40)) ?? [])
  } catch (error) {
    if (questions.length > 1) await Promise.all(questions.map(question => answer(repository, kind, [question])))
    else questions[0]?.fail(error)
  }
}

/** Each commit's tokens stand behind its id; a commit without changes is left out. */
function cut(tokens: string[]): Map<string, string[]> {
  const parts = new Map<string, string[]>()
  let current: string[] = []
  let isPath = false
  for (const token of tokens) {
    if (!isPath && /^[0-9a-f]{40}$/.test(token)) {
      current = []
      parts.set(token, current)
      continue
    }
    if (token === '' && !isPath) continue
    current.push(token)
    isPath = !isPath && /^[A-Z]\d*$/.test(token)
  }
  return parts
}
