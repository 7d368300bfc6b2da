import { isDiskFull } from '../../src/lib/disk-full.js'
import t from '../helpers/tap.js'

t.test('a full disk is recognised in errors of the system, of git and of the database', async t => {
  const cannotLock = "fatal: prepare: Unable to create 'refs/heads/master.lock': No space left on device\n"
  const full: unknown[] = [
    Object.assign(new Error('write'), { code: 'ENOSPC' }),
    Object.assign(new Error('write'), { code: 'EDQUOT' }),
    Object.assign(new Error('update-ref failed'), { code: 128, stderr: cannotLock }),
    Object.assign(new Error('insert'), { errno: 1114 }),
    Object.assign(new Error('insert'), { parent: new Error('Got error 28 "No space left on device" from storage') })
  ]
  for (const error of full) t.ok(isDiskFull(error), String(error))
  const other = [null, 'ENOSPC', new Error('exists'), Object.assign(new Error('git'), { code: 28, stderr: 'exit 28' })]
  for (const error of other) t.notOk(isDiskFull(error), String(error))
})
