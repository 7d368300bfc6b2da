import { execute } from '../../../../src/db/connect/sql.js'
import { testAccess } from '../../../access/matrix.js'
import { access as discussion } from './discussion.access.js'

testAccess([discussion], async ({ id }) => {
  await execute('update projects set snippets_enabled = 1 where id = ?', [id])
})
