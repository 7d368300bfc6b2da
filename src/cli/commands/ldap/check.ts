import type { CheckedStep } from '../../../areas/people/identity/ldap/check.js'
import { NoSuch } from '../../../errors.js'
import { plainText } from '../../../lib/display-width.js'
import { BaseCommand } from '../../framework/base.js'
import { ExitCode } from '../../framework/failures.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'

export default class LdapCheck extends BaseCommand {
  static override summary = 'Follow a person from the directory to the account, step by step'
  static override description =
    'Each line says what a step found: the connection, TLS, the bind of the service account, the search, the entry, its attributes, its groups, what they give here, and the account. A step with a fault has a remedy, and the exit code is 1. It asks for no password and changes nothing. With --json: {directories: [{name, steps: [{step, ok, found, remedy}]}]}.'
  static override examples = [
    '<%= config.bin %> ldap check ada',
    '<%= config.bin %> ldap check ada --directory company'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the name or mail address with which the person signs in' })
  }
  static override flags = {
    directory: Flags.string({ description: 'only this directory of identity.ldap' })
  }

  async run() {
    const { args, flags } = await this.parse(LdapCheck)
    this.configure(flags)
    const { checkPerson, directories } = await import('../../../areas/people/identity/ldap/check.js')
    const asked = directories().filter(({ name }) => flags.directory === undefined || name === flags.directory)
    if (flags.directory !== undefined && asked.length === 0) throw new NoSuch('directory', flags.directory)
    if (asked.length === 0) this.log('identity.ldap has no directories')
    const results: { name: string; steps: CheckedStep[] }[] = []
    await withDatabase(async () => {
      for (const directory of asked) {
        const steps = await checkPerson(directory, args.user)
        results.push({ name: directory.name, steps })
        this.log([directory.name, ...steps.flatMap(linesOf)].join('\n'))
      }
    })
    if (results.some(({ steps }) => steps.some(({ ok }) => !ok))) process.exitCode = ExitCode.failed
    return { directories: results }
  }
}

const linesOf = ({ step, ok, found, remedy }: CheckedStep): string[] => [
  `  ${ok ? 'ok  ' : 'FAIL'}  ${step.padEnd(10)}  ${plainText(found)}`,
  ...(remedy === null ? [] : [`        ${''.padEnd(10)}  remedy: ${plainText(remedy)}`])
]
