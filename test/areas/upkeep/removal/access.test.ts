import { testAccess } from '../../../access/matrix.js'
import { access as projectRemoval } from './project-removal.access.js'
import { access as userDeletion } from './user-deletion.access.js'

testAccess([projectRemoval, userDeletion])
