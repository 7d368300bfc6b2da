// Checks mail by a real conversation with the server, in which nothing is sent.
import { accessSync, constants } from 'node:fs'
import { config } from '../../config.js'
import { plainText } from '../../lib/display-width.js'
import { Ailment, type Check } from './check.js'

export const mailCheck: Check = {
  name: 'mail',
  about: 'the server of mail answers and lets us in',
  examine: async () => {
    const { transport, sendmail, smtp } = config().mail
    if (transport === 'file') return 'mails are files in HOME/mail, and nobody gets them (mail.transport)'
    if (transport === 'sendmail') return program(sendmail.path)
    // Loaded here: most runs of a command need no mail.
    const { converse } = await import('../../mail/transport.js')
    const said: string[] = []
    try {
      await converse(null, line => said.push(plainText(line)))
    } catch (error) {
      throw new Ailment(
        `mail cannot be sent by ${smtp.host}:${smtp.port}: ${plainText((error as Error).message)}`,
        'correct mail.smtp of the configuration, and try it with gitstead mail test ADDRESS',
        said.slice(-10)
      )
    }
    const secure = said.some(line => line === 'C: STARTTLS') || smtp.tls === 'tls'
    return `${smtp.host}:${smtp.port} answers${secure ? ' with TLS' : ''}${smtp.user === '' ? '' : ` and takes ${smtp.user}`}`
  }
}

function program(path: string): string {
  try {
    accessSync(path, constants.X_OK)
    return `${path} is there`
  } catch {
    throw new Ailment(`${path} cannot be run`, 'install a program of mail, or correct mail.sendmail.path')
  }
}
