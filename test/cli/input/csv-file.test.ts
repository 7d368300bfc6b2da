import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCsvFile } from '../../../src/cli/input/csv-file.js'
import { BadParameters } from '../../../src/errors.js'
import { openFilesIn } from '../../helpers/open-files.js'
import t from '../../helpers/tap.js'
import { until } from '../../helpers/until.js'

t.test('a file with an invalid header is closed', async t => {
  const folder = t.testdir()
  const file = join(folder, 'users.csv')
  writeFileSync(file, `shoe_size\n${'42\n'.repeat(100_000)}`)
  await t.rejects(openCsvFile(file, { known: ['name'], required: [] }), BadParameters)
  await until('the file is closed', () => openFilesIn(folder).length === 0)
})
