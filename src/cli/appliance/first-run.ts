// What `gitstead up` prints on a terminal while there is no administrator.
import { config, publicSshAddress } from '../../config.js'
import type { FirstRun } from '../../lib/ready.js'

const quoted = (word: string) => (/^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/** Returns the lines. `url` is the address at which the server answers. */
export function firstRunText(url: string, { link, hours, signUp }: FirstRun): string {
  const { home, mail, ssh, url: shown } = config()
  const at = `--home ${quoted(home)}`
  const settings = [
    ['url', shown ?? `null: links in mails and addresses of clones begin with ${url}`],
    ['mail.transport', `${mail.transport}: ${mailGoes()}`],
    ['signup_enabled', signUp ? `true: everybody who reaches ${shown ?? url} can sign up` : 'false: nobody can sign up']
  ] as const
  return [
    '',
    `There is no administrator yet. Open this link within ${hours} hours to become the first one:`,
    `  ${link}`,
    'Or run this command:',
    `  gitstead users create ${at} --username NAME --email ADDRESS --name 'FULL NAME' --admin --password-file FILE`,
    '',
    'What it uses:',
    `  pages, API, git   ${new URL(url).host} (host, port)`,
    `  git over SSH      ${ssh.enabled ? `port ${publicSshAddress().port} (ssh.port)` : 'switched off (ssh.enabled)'}`,
    `  mail              ${mailGoes()}`,
    '',
    `Check three settings. The first two are in ${home}/config.yaml, the last one changes with:`,
    `  gitstead settings set ${at} signup_enabled false`,
    ...settings.map(([name, value]) => `  ${name.padEnd(16)}  ${value}`),
    '',
    `\`gitstead users first-link ${at}\` prints the link again, and \`gitstead doctor ${at}\` says what to do next.`,
    ''
  ].join('\n')

  function mailGoes(): string {
    if (mail.transport === 'smtp') return `goes to the server ${mail.smtp.host}:${mail.smtp.port}`
    if (mail.transport === 'sendmail') return `goes to the program ${mail.sendmail.path}`
    return `goes to files in ${home}/mail, so nobody receives it`
  }
}
