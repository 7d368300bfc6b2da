// Checks mail with a real connection to the server, without sending anything.
import { accessSync, constants } from 'node:fs'
import { config } from '../../config.js'
import { plainText } from '../../lib/display-width.js'
import { Ailment, type Check } from './check.js'

export const mailCheck: Check = {
  name: 'mail',
  about: 'the mail server answers and accepts the login',
  examine: async () => {
    const { transport, sendmail, smtp, incoming } = config().mail
    if (transport === 'file' && incoming !== null) {
      throw new Ailment(
        'mail.incoming has no effect: mail.transport is file, so nobody gets a mail to reply to',
        'set mail.transport to smtp or sendmail, or remove mail.incoming'
      )
    }
    if (transport === 'file') {
      return {
        found: 'mail is only written to files in HOME/mail, not sent (mail.transport)',
        next: 'let people receive mail: set mail.transport in config.yaml (docs/operate/mail.md)'
      }
    }
    if (transport === 'sendmail') return program(sendmail.path)
    // Loaded here, because most commands need no mail.
    const { converse } = await import('../../mail/transport.js')
    const said: string[] = []
    try {
      await converse(null, line => said.push(plainText(line)))
    } catch (error) {
      throw new Ailment(
        `cannot send mail via ${smtp.host}:${smtp.port}: ${plainText((error as Error).message)}`,
        'correct mail.smtp in the configuration, and try it with gitstead mail test ADDRESS',
        said.slice(-10)
      )
    }
    const secure = said.some(line => line === 'C: STARTTLS') || smtp.tls === 'tls'
    return `${smtp.host}:${smtp.port} answers${secure ? ' with TLS' : ''}${smtp.user === '' ? '' : ` and accepts the user ${smtp.user}`}`
  }
}

function program(path: string): string {
  try {
    accessSync(path, constants.X_OK)
    return `${path} can be run`
  } catch {
    throw new Ailment(`${path} cannot be run`, 'install a mail program, or correct mail.sendmail.path')
  }
}
