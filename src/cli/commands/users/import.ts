import type { Refusal } from '../../../areas/people/users/import/user-import.js'
import { IMPORT_COLUMNS, importUsers, REQUIRED_COLUMNS } from '../../../areas/people/users/import/user-import.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { progressLine } from '../../framework/progress.js'
import { withDatabase } from '../../framework/with-database.js'
import { openCsvFile } from '../../input/csv-file.js'
import { Args, Flags } from '../../oclif.js'
import { printable } from '../../output/table.js'

export default class UsersImport extends BaseCommand {
  static override summary = 'Create users from a CSV file, or update them'
  static override description =
    'The first row names the columns: username, email and name are required; password, admin, external, projects_limit and the other attributes of `users create` (with _ for -) are optional. The column ssh_keys has public keys, one on each line of the cell or with ; between them. Without a password column, each user gets a random, unknown password; set a new one with `users passwd`. The command reports each refused row with its line, and creates all other users. With --update, rows of existing users change their attributes instead of being refused, and add the keys that they lack: empty cells and the password change nothing. A row belongs to the user who has its provider and extern_uid, or else its username. The exit code is 1 if a row is refused. With --json: {created, refused: [{line, username, error}]}, or with --dry-run {would_create, refused}; --update adds updated and unchanged, or would_update.'
  static override examples = [
    '<%= config.bin %> users import users.csv --dry-run',
    '<%= config.bin %> users import users.csv',
    '<%= config.bin %> users import users.csv --mail',
    '<%= config.bin %> users import users.csv --update',
    'ssh ldap.example.org export-users | <%= config.bin %> users import - --json > report.json'
  ]
  static override args = {
    file: Args.string({ required: true, description: 'the CSV file in UTF-8, or - for standard input' })
  }
  static override flags = {
    'dry-run': Flags.boolean({ description: 'check all rows and create no user' }),
    update: Flags.boolean({ description: 'change users who exist already, by their identities or usernames' }),
    mail: Flags.boolean({
      description: 'send each new user a mail about the account, as `users create` does; it contains no password'
    })
  }

  async run() {
    const { args, flags } = await this.parse(UsersImport)
    this.configure(flags)
    const file = await openCsvFile(args.file, { known: IMPORT_COLUMNS, required: REQUIRED_COLUMNS })
    // A reader of stderr, such as `head`, may close the pipe early: that must not stop the import.
    process.stderr.on('error', () => undefined)
    const line = progressLine()
    const say = (text: string) => {
      line.end()
      process.stderr.write(`${printable(text)}\n`)
    }
    const refused: Refusal[] = []
    let created = 0
    let updated = 0
    let unchanged = 0
    const refuse = (refusal: Refusal) => {
      refused.push(refusal)
      if (!this.jsonEnabled()) say(textOf(refusal))
    }
    const show = () => {
      const { read, size } = file.progress()
      const percent = Math.min(99, Math.floor((100 * read) / (size || 1)))
      line.show(
        'importing',
        percent,
        size === null ? 0 : 100,
        `${created + updated + unchanged} users, ${refused.length} refused`
      )
    }
    const options = {
      dryRun: flags['dry-run'],
      mail: flags.mail,
      update: flags.update,
      refuse,
      created: (users: number) => {
        created += users
        show()
      },
      updated: (changed: boolean) => {
        if (changed) updated += 1
        else unchanged += 1
        show()
      }
    }
    try {
      await withDatabase(() => importUsers(file.lines, options, commandOrigin()), { makes: !flags['dry-run'] })
    } catch (error) {
      if (!flags['dry-run']) say(`${created} users were created and ${updated} updated before this error`)
      throw error
    } finally {
      line.end()
    }
    if (refused.length > 0) process.exitCode = 1
    const dry = flags['dry-run']
    const also = flags.update ? (dry ? `, update ${updated}` : `, updated ${updated}, left ${unchanged} unchanged`) : ''
    this.log(`${dry ? 'would create' : 'created'} ${counted(created, 'user')}${also}, refused ${refused.length}`)
    if (flags.update && !dry && created + updated === 0) this.log('nothing has changed')
    if (flags['dry-run']) return { would_create: created, ...(flags.update && { would_update: updated }), refused }
    return { created, ...(flags.update && { updated, unchanged }), refused }
  }
}

const textOf = ({ line, username, error }: Refusal) =>
  `line ${line}: ${username === null ? '' : `${username}: `}${error}`
