import { testAccess } from '../../../access/matrix.js'
import { access } from './milestones.access.js'

testAccess([access])
