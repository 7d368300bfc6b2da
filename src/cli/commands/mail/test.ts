import { sendTestMail } from '../../../areas/reach/mail/test-mail.js'
import { config } from '../../../config.js'
import { Failure } from '../../../errors.js'
import { plainText } from '../../../lib/display-width.js'
import { faultOf } from '../../../mail/faults.js'
import { BaseCommand } from '../../framework/base.js'
import { ExitCode } from '../../framework/failures.js'
import { Args } from '../../oclif.js'

export default class MailTest extends BaseCommand {
  static override summary = 'Send a test mail to an address, and show the conversation with the server'
  static override description =
    'Uses mail.* of the configuration, but neither the queue nor the database. C: marks lines of the client, S: lines of the server; passwords are hidden. The exit code is 1 if the mail is refused, 5 if the server cannot be reached or refuses the login. With --json: {transport, sent, error, conversation}.'
  static override examples = [
    '<%= config.bin %> mail test ada@example.org',
    '<%= config.bin %> mail test ada@example.org --json'
  ]
  static override args = { address: Args.string({ description: 'the recipient', required: true }) }

  async run() {
    const { flags, args } = await this.parse(MailTest)
    this.configure(flags)
    const { transport } = config().mail
    const conversation: string[] = []
    // A server may send anything, including control characters.
    const say = (words: string) => {
      const line = plainText(words)
      conversation.push(line)
      this.log(line)
    }
    let error: string | null = null
    try {
      await sendTestMail(args.address, say)
    } catch (thrown) {
      if (thrown instanceof Failure) throw thrown
      const fault = faultOf(thrown)
      error = plainText(fault.message)
      process.exitCode = fault.kind === 'server' ? ExitCode.unavailable : ExitCode.failed
    }
    this.log(error === null ? SENT[transport] : `the mail was not sent: ${error}`)
    return { transport, sent: error === null, error, conversation }
  }
}

const SENT = {
  smtp: 'the server accepted the mail',
  sendmail: 'sendmail accepted the mail',
  file: 'the mail was only written to a file, because mail.transport is file'
}
