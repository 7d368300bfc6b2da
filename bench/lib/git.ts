// Runs git as a client, without the settings of the user who runs the benchmark.
import { spawn } from 'node:child_process'

const environment = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.org',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.org'
}

/** Runs git and waits until it ends; returns its output. Throws an error with its messages when it fails. */
export function runGit(
  args: readonly string[],
  input: string | Buffer = '',
  extra: Record<string, string> = {}
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { env: { ...environment, ...extra }, stdio: ['pipe', 'pipe', 'pipe'] })
    let output = ''
    let complaint = ''
    child.stdout.on('data', chunk => (output += chunk))
    child.stderr.on('data', chunk => (complaint += chunk))
    child.once('error', reject)
    child.once('close', code => {
      if (code === 0) resolve(output.trim())
      else reject(new Error(`git ${args.join(' ')}: ${complaint.trim().slice(-500)}`))
    })
    // If git fails at once, it does not read its input. The reason is available when it ends.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

/** The arguments that make git send credentials with the first request, without a challenge. */
export function authorization(username: string, token: string): string[] {
  const basic = Buffer.from(`${username}:${token}`).toString('base64')
  return ['-c', `http.extraHeader=Authorization: Basic ${basic}`]
}
