import { testAccess } from '../../../access/matrix.js'
import { access as templates } from './templates.access.js'

testAccess([templates])
