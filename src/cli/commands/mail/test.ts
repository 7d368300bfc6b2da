import { sendTestMail } from '../../../areas/reach/mail/test-mail.js'
import { config } from '../../../config.js'
import { Failure } from '../../../errors.js'
import { plainText } from '../../../lib/display-width.js'
import { faultOf } from '../../../mail/faults.js'
import { BaseCommand } from '../../framework/base.js'
import { ExitCode } from '../../framework/failures.js'
import { Args } from '../../oclif.js'

export default class MailTest extends BaseCommand {
  static override summary = 'Send a mail to an address now, and show what the server says'
  static override description =
    'It uses mail.* of the configuration, but neither the queue nor the database. C: is what we say, S: what the server says; passwords are hidden. Exit code 1 when the mail is refused, 5 when the server cannot be reached or does not let us in. With --json: {transport, sent, error, conversation}.'
  static override examples = [
    '<%= config.bin %> mail test ada@example.org',
    '<%= config.bin %> mail test ada@example.org --json'
  ]
  static override args = { address: Args.string({ description: 'who gets the mail', required: true }) }

  async run() {
    const { flags, args } = await this.parse(MailTest)
    this.configure(flags)
    const { transport } = config().mail
    const conversation: string[] = []
    // A server may say anything, and a terminal obeys some of it.
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
    this.log(error === null ? SENT[transport] : `the mail did not go: ${error}`)
    return { transport, sent: error === null, error, conversation }
  }
}

const SENT = {
  smtp: 'the server has taken the mail',
  sendmail: 'sendmail has taken the mail',
  file: 'the mail is a file, because mail.transport is file: nobody gets it'
}
