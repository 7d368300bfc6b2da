// A project with files, and browsers of its owner, of a stranger and of nobody.
import type { Test } from 'tap'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { git } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { projectRow, type TestUser } from '../../../helpers/factory.js'

/** Starts the application. `make` makes a project with one file on master. */
export async function codePages(t: Test) {
  const app = await testApp(t)
  const base = await listen(app.fastify)
  const signedIn = async (user: TestUser): Promise<Browser> => {
    const browser = new Browser(base)
    await browser.signIn(user)
    return browser
  }
  const make = async (values: Parameters<typeof app.make.project>[0] = {}) => {
    const project = await app.make.project(values)
    await app.make.file(project, 'README.md', '# Hello\n')
    const repository = repositoryPath(await projectRow(project))
    const path = `/${project.path}`
    return { project, path, repository, git: (args: string[], input?: string | Buffer) => git(repository, args, input) }
  }
  return { app, base, make, signedIn, nobody: new Browser(base) }
}

const text = (content: string | Buffer) =>
  Buffer.concat([`data ${Buffer.byteLength(content)}\n`, content, '\n'].map(part => Buffer.from(part)))

/** Makes a commit on a branch, whatever the names and contents of its files are. */
export function commitOf(
  files: Readonly<Record<string, string | Buffer>>,
  { branch = 'master', message = 'Add files', from = 'refs/heads/master^0' } = {}
): Buffer {
  const head = `commit refs/heads/${branch}\ncommitter Ann <ann@example.com> 1700000000 +0000\n`
  const quoted = (name: string) => `"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
  const changes = Object.entries(files).map(([name, content]) =>
    Buffer.concat([Buffer.from(`M 100644 inline ${quoted(name)}\n`), text(content)])
  )
  return Buffer.concat([Buffer.from(head), text(message), Buffer.from(`from ${from}\n`), ...changes])
}
