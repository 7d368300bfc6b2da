import type { Receipt } from '../../../areas/reach/replies/receive.js'
import { BadRequest, TooLarge, Unavailable } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'

/** The codes of sysexits.h: a mail server refuses the mail, or tries again later. */
const Sysexit = { dataError: 65, noUser: 67, tryAgain: 75, noPermission: 77 } as const

const CODES: { readonly [Result in Receipt['result']]: number } = {
  noted: 0,
  ignored: 0,
  refused: 0,
  unknown_address: Sysexit.noUser,
  blocked_user: Sysexit.noPermission
}

/** Seconds for one mail. Postfix allows 1000. */
const LONGEST = 120

export default class MailReceive extends BaseCommand {
  static override summary = 'Turn a reply by mail, on standard input, into a comment'
  static override description =
    'A mail server runs this for each mail to the addresses of mail.incoming. The exit codes are those of sysexits.h: 0 for a comment, and for a mail that is ignored or that the user gets a mail about; 65 for a mail that cannot be read, 67 for an unknown address, 77 for a blocked user, and 75 for every failure that may pass. With --json: {result, why}; the result is noted, ignored, refused, unknown_address or blocked_user.'
  static override examples = [
    '<%= config.bin %> mail receive < reply.eml',
    '<%= config.bin %> mail receive --sender=ada@example.org --recipient=reply+1i_9_5_0123456789abcdef01234567@git.example.org < reply.eml'
  ]
  static override flags = {
    recipient: Flags.string({ description: 'the recipient of the envelope; default: those in the headers' }),
    sender: Flags.string({ description: 'the sender of the envelope; default: that of Return-Path' })
  }

  async run() {
    const { flags } = await this.parse(MailReceive)
    this.configure(flags)
    const { receiveMail } = await import('../../../areas/reach/replies/receive.js')
    const receipt = await withDatabase(() => inTime(() => receiveMail(process.stdin, flags)))
    const { result, why } = receipt
    if (CODES[result] === 0) this.log(why === null ? 'the reply is a comment' : `the mail is ${result}: ${why}`)
    else process.stderr.write(`gitstead: ${why}\n`)
    process.exitCode = CODES[result]
    return receipt
  }

  /** Everything that is not a fault of the mail may pass, also a wrong configuration: the mail server then keeps the mail. */
  protected override exitCodeFor(error: Error): number {
    return error instanceof BadRequest || error instanceof TooLarge ? Sysexit.dataError : Sysexit.tryAgain
  }
}

async function inTime<T>(work: () => Promise<T>): Promise<T> {
  let clock: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    clock = setTimeout(() => reject(new Unavailable('the mail takes too long', LONGEST)), LONGEST * 1000)
  })
  return Promise.race([work(), late]).finally(() => clearTimeout(clock))
}
