import { testAccess } from '../../../access/matrix.js'
import { access as projectGroups } from './project-groups.access.js'

testAccess([projectGroups])
