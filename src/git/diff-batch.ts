// Questions about the changes of single commits. Those asked in one turn of the program go to one `diff-tree --stdin`:
// a push of 20 commits costs one process and not 20. While two of them run for a repository, questions gather for the
// next one: starting git costs more than most answers.
import { readCommit } from './objects.js'
import { runGit } from './run.js'

type Kind = 'stats' | 'paths'
type Question = { id: string; settle: (tokens: string[]) => void; fail: (error: unknown) => void }
type Batch = { repository: string; kind: Kind; questions: Question[]; started: boolean }

const formats: Record<Kind, string[]> = {
  stats: ['--shortstat'],
  paths: ['--name-status', '--no-renames', '-z']
}
const batchLimit = 100
const maxOutput = 16 * 1024 * 1024

const runningTogether = 2
/** Milliseconds; a commit whose changes take long does not hold up those that come after it. */
const patience = 30

/** By kind and repository. */
const gathering = new Map<string, Batch>()
const running = new Map<string, number>()

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
    const question = { id: line, settle, fail }
    const open = gathering.get(key)
    if (open && open.questions.length < batchLimit) {
      open.questions.push(question)
      return
    }
    const batch: Batch = { repository, kind, questions: [question], started: false }
    gathering.set(key, batch)
    setImmediate(() => {
      if ((running.get(key) ?? 0) < runningTogether) void start(key, batch)
      else setTimeout(() => void start(key, batch), patience)
    })
  })
}

async function start(key: string, batch: Batch): Promise<void> {
  if (batch.started) return
  batch.started = true
  if (gathering.get(key) === batch) gathering.delete(key)
  running.set(key, (running.get(key) ?? 0) + 1)
  await answer(batch.repository, batch.kind, batch.questions)
  const left = (running.get(key) ?? 1) - 1
  if (left > 0) running.set(key, left)
  else running.delete(key)
  const next = gathering.get(key)
  if (next) void start(key, next)
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
