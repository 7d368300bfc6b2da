import type { MemberOutcome, MemberRefusal } from '../../../areas/people/members/member-import.js'
import { importMembers, MEMBER_COLUMNS, REQUIRED_MEMBER_COLUMNS } from '../../../areas/people/members/member-import.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { progressLine } from '../../framework/progress.js'
import { withDatabase } from '../../framework/with-database.js'
import { openCsvFile } from '../../input/csv-file.js'
import { Args, Flags } from '../../oclif.js'
import { printable } from '../../output/table.js'

export default class MembersImport extends BaseCommand {
  static override summary = 'Make users members of projects and groups from a CSV file'
  static override description =
    'The first row names the columns: path (NAMESPACE/PROJECT, or the path of a group), user (username, mail address or number) and level (guest, reporter, developer, master, owner, or its number) are required; expires_at (a day, empty for no change) is optional. An existing member with the same level and end stays unchanged; a member with another level or end is refused, or changed with --update. The command reports each refused row with its line and column, and imports all others. The exit code is 1 if a row is refused. With --json: {added, changed, unchanged, refused: [{line, path, user, attribute, error}]}, or with --dry-run {would_add, would_change, unchanged, refused}.'
  static override examples = [
    '<%= config.bin %> members import members.csv --dry-run',
    '<%= config.bin %> members import members.csv --update',
    'ssh ldap.example.org export-teams | <%= config.bin %> members import - --json > report.json'
  ]
  static override args = {
    file: Args.string({ required: true, description: 'the CSV file in UTF-8, or - for standard input' })
  }
  static override flags = {
    'dry-run': Flags.boolean({ description: 'check all rows and change nothing' }),
    update: Flags.boolean({ description: 'change members whose level or end differs from the file' })
  }

  async run() {
    const { args, flags } = await this.parse(MembersImport)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const file = await openCsvFile(args.file, { known: MEMBER_COLUMNS, required: REQUIRED_MEMBER_COLUMNS })
    // A reader of stderr, such as `head`, may close the pipe early: that must not stop the import.
    process.stderr.on('error', () => undefined)
    const progress = progressLine()
    const say = (text: string) => {
      progress.end()
      process.stderr.write(`${printable(text)}\n`)
    }
    const refused: MemberRefusal[] = []
    const counts: Record<MemberOutcome, number> = { added: 0, changed: 0, unchanged: 0 }
    const refuse = (refusal: MemberRefusal) => {
      refused.push(refusal)
      if (!this.jsonEnabled()) say(textOf(refusal))
    }
    const done = (outcome: MemberOutcome, count: number) => {
      counts[outcome] += count
      const { read, size } = file.progress()
      const percent = Math.min(99, Math.floor((100 * read) / (size || 1)))
      progress.show('importing', percent, size === null ? 0 : 100, `${counts.added} members, ${refused.length} refused`)
    }
    try {
      const options = { dryRun, update: flags.update, refuse, done }
      await withDatabase(() => importMembers(file.lines, options, commandOrigin()))
    } catch (error) {
      if (!dryRun) say(`${counts.added} members were added and ${counts.changed} changed before this error`)
      throw error
    } finally {
      progress.end()
    }
    if (refused.length > 0) process.exitCode = 1
    const { added, changed, unchanged } = counts
    const verbs = dryRun ? ['would add', 'would change'] : ['added', 'changed']
    this.log(
      `${verbs[0]} ${added} members, ${verbs[1]} ${changed}, left ${unchanged} unchanged, refused ${refused.length}`
    )
    if (dryRun) return { would_add: added, would_change: changed, unchanged, refused }
    return { added, changed, unchanged, refused }
  }
}

function textOf({ line, path, user, attribute, error }: MemberRefusal): string {
  const of = [path, user].filter(Boolean).join(' ')
  // `no user is called "ghost"` is a complete sentence; other errors describe what is wrong with the attribute.
  const text = attribute && !error.startsWith('no ') ? `${attribute} ${error}` : error
  return `line ${line}: ${of}${of === '' ? '' : ': '}${text}`
}
