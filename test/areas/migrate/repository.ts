// The repository of a project at a forge, on a real listener. Git reads it as plain files.
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { receiver } from '../../webhooks/receiver.js'

const environment = {
  PATH: process.env.PATH,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  ...{ GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com', GIT_AUTHOR_DATE: '1577869200 +0000' },
  ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com', GIT_COMMITTER_DATE: '1577869200 +0000' }
}

/** Serves a repository with the branches main and topic, and the heads of pull requests 3 to 5. */
export async function startRepository(t: Test) {
  const folder = join(t.testdir({}), 'tool.git')
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', args, { cwd: folder, env: environment, input, stdio: ['pipe', 'pipe', 'inherit'] })
      .toString()
      .trim()
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', folder], { env: environment })
  const commit = (content: string, ...parents: readonly string[]) => {
    const blob = git(['hash-object', '-w', '--stdin'], content)
    const tree = git(['mktree'], `100644 blob ${blob}\ta.ts\n`)
    return git(['commit-tree', tree, '-m', content.split('\n')[0] ?? '', ...parents.flatMap(id => ['-p', id])])
  }
  const first = commit('one\ntwo\nthree\n')
  const main = commit('one\ntwo\nthree\nfour\n', first)
  const topic = commit('one\n2\nthree\n', first)
  const [fix, other] = [commit('fix\n', first), commit('other\n', first)]
  const merge = commit('one\n2\nthree\nfour\n', main, topic)
  const refs = {
    ...{ 'refs/heads/main': merge, 'refs/heads/topic': topic, 'refs/tags/v1': main },
    ...{ 'refs/pull/3/head': topic, 'refs/pull/4/head': fix, 'refs/pull/5/head': other }
  }
  for (const [ref, id] of Object.entries(refs)) git(['update-ref', ref, id])
  git(['update-server-info'])
  const { port, received } = await receiver(t, async (response, target) => {
    const { pathname } = new URL(target, 'http://x')
    const body = await readFile(join(folder, '..', pathname)).catch(() => null)
    response.writeHead(body === null ? 404 : 200).end(body)
  })
  return {
    url: `http://127.0.0.1:${port}/tool.git`,
    folder,
    received,
    commits: { first, main, topic, fix, other, merge }
  }
}
