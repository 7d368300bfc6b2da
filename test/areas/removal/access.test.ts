import { testAccess } from '../../access/matrix.js'
import { access as userDeletion } from './user-deletion.access.js'

testAccess([userDeletion])
