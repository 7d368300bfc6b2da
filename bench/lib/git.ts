// git as a client, without the settings of whoever runs the benchmark.
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

/** Runs git to its end; gives what it printed. Throws with its complaint when it fails. */
export function runGit(args: readonly string[], input: string | Buffer = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { env: environment, stdio: ['pipe', 'pipe', 'pipe'] })
    let output = ''
    let complaint = ''
    child.stdout.on('data', chunk => (output += chunk))
    child.stderr.on('data', chunk => (complaint += chunk))
    child.once('error', reject)
    child.once('close', code => {
      if (code === 0) resolve(output.trim())
      else reject(new Error(`git ${args.join(' ')}: ${complaint.trim().slice(-500)}`))
    })
    // A git that fails at once does not read its input; its exit tells why.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

/** The header that a client with a token sends, at once and not when asked for it. */
export function authorization(username: string, token: string): string[] {
  const basic = Buffer.from(`${username}:${token}`).toString('base64')
  return ['-c', `http.extraHeader=Authorization: Basic ${basic}`]
}
