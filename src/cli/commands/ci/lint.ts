import { lintWithFiles } from '../../../ci/lint.js'
import { BaseCommand } from '../../framework/base.js'
import { filesAround } from '../../input/repository-files.js'
import { readTextFile } from '../../input/text-file.js'
import { Args } from '../../oclif.js'

/** Bytes: the limit of a CI file. */
const LIMIT = 1_048_576

export default class CiLint extends BaseCommand {
  static override summary = 'Check a CI file without creating anything'
  static override description =
    'It needs no appliance. Local files and templates that it includes are read, from the checkout around it; files of projects and URLs are not looked at, which is a warning. Prints a line for each fault, with the job and the key, and one for each key without an effect. Exit code 1 when there is a fault. With --json: {ok, file, errors, warnings}.'
  static override examples = [
    '<%= config.bin %> ci lint .gitstead-ci.yml',
    'git show HEAD:.gitstead-ci.yml | <%= config.bin %> ci lint - --json'
  ]
  static override args = {
    file: Args.string({ required: true, description: 'the CI file; - reads the standard input' })
  }

  async run() {
    const { args } = await this.parse(CiLint)
    const text = await readTextFile('the CI file', args.file, LIMIT)
    const { errors, warnings } = await lintWithFiles(text, await filesAround(args.file, LIMIT))
    for (const warning of warnings) this.log(`warning: ${warning}`)
    for (const error of errors) this.log(error)
    if (errors.length === 0) this.log('the CI file has no faults')
    else process.exitCode = 1
    return { ok: errors.length === 0, file: args.file, errors, warnings }
  }
}
